"""Documents: text, HTML, PDF, Word and markdown; a clear word for files of other kinds."""

import io
import re
import zipfile
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, Final

from ecphoria.errors import BadFile, Misconfigured, install
from ecphoria.imports.markdown import PAGES, page, parted
from ecphoria.imports.streams import Counted, Found, Reading, Tree, matches, shown

DOCUMENTS: Final = (*PAGES, "*.txt", "*.text", "*.html", "*.htm", "*.pdf", "*.docx")
"""Names of the files that are read from a folder."""
_LARGEST: Final = 200_000_000
"""Bytes of a file to convert: it is held as a whole."""
_LONGEST_TEXT: Final = 10_000_000
"""Bytes of a text; a larger one would not fit the body of a request."""
UTF_16: Final = (b"\xff\xfe", b"\xfe\xff")
"""The beginnings of a text in UTF-16."""
_CONVERTED: Final = {"PDF": ".pdf", "Word": ".docx", "HTML": ".html"}
# The content tells the kind of a file, not its name (decision 0043).
_KINDS: Final = (
    (b"%PDF-", "PDF"), (b"\x89PNG", "a PNG image"), (b"\xff\xd8\xff", "a JPEG image"),
    (b"GIF8", "a GIF image"), (b"BM", "a BMP image"), (b"II*\x00", "a TIFF image"),
    (b"MM\x00*", "a TIFF image"), (b"\x1f\x8b", "a gzip archive"), (b"7z\xbc\xaf", "a 7z archive"),
    (b"Rar!", "a RAR archive"), (b"BZh", "a bzip2 archive"), (b"\xfd7zXZ", "an xz archive"),
    (b"ID3", "an MP3 sound"), (b"OggS", "an Ogg sound"), (b"fLaC", "a FLAC sound"),
    (b"SQLite format 3", "an SQLite database"), (b"\x7fELF", "a program"), (b"MZ", "a program"),
    (b"\xd0\xcf\x11\xe0", "an old Office file"), (b"{\\rtf", "an RTF document"),
    (b"\x28\xb5\x2f\xfd", "a Zstandard archive"), (b"PAR1", "a Parquet table"),
)  # fmt: skip
_INSIDE: Final = {
    "word/": "Word", "xl/": "an Excel workbook", "ppt/": "a PowerPoint presentation",
    "META-INF/container.xml": "an EPUB book", "content.xml": "an OpenDocument file",
}  # fmt: skip
_HTML: Final = re.compile(rb"\s*(<!--.{0,2000}?-->\s*)?<(!doctype html|html|head|body)\b", re.DOTALL | re.IGNORECASE)  # noqa: E501 # fmt: skip
_REMEDIES: Final = {"image": "describe it in words", "sound": "write down what is said",
                    "archive": "unpack it first"}  # fmt: skip


def kind_of(start: bytes) -> str:
    """Tell the kind of a file by its first bytes: `PDF`, `HTML`, `text`, or one of no use here.

    Text may be cut off inside a character.
    """
    for mark, kind in _KINDS:
        if start.startswith(mark) and (len(mark) > 3 or not _is_text(start)):
            return kind
    if start[:4] == b"RIFF":
        return "a WebP image" if start[8:12] == b"WEBP" else "a WAV sound or a video"
    if start[4:8] == b"ftyp":
        return "a video or a HEIC image"
    if _HTML.match(start):
        return "HTML"
    return "text" if _is_text(start) else "binary data"


def _is_text(start: bytes) -> bool:
    return start.startswith(UTF_16) or b"\x00" not in start


def packed_kind(names: list[str]) -> str | None:
    """Tell the kind of an Office file or a book by the names in its ZIP; None for an archive."""
    for inner, kind in _INSIDE.items():
        if any(name.startswith(inner) for name in names):
            return kind if inner != "content.xml" or "mimetype" in names else None
    return None


def refusal(kind: str, name: str = "") -> BadFile:
    """Say what a file is, and what to do about it."""
    remedy = next((words for what, words in _REMEDIES.items() if what in kind), None)
    told = f"{shown(name)} is {kind}" if name else f"This is {kind}"
    return BadFile(f"{told}; {remedy or 'convert it to PDF, Word, HTML, markdown or text'}.")


def read_documents(tree: Tree, reading: Reading, names: Sequence[str]) -> Iterator[Found]:
    """Read the files of a folder with such names, in order; one that cannot be used is told."""
    for path in tree.outside:
        reading.place = shown(path)
        yield BadFile("It is a link that leads out of the folder; copy the file into it.")
    for path in tree.named(*names):
        yield from tree.read(path, reading, partial(read_document, name=f"{tree.name}/{path}"))


def read_document(stream: Counted, name: str) -> Iterator[Found]:
    """Read one document, whose path is its name."""
    start = stream.start()
    kind = kind_of(start)
    if start.startswith(b"PK\x03\x04"):
        kind = _kind_of_packed(stream) or "a ZIP archive"
    elif kind == "text" and name.lower().endswith((".html", ".htm")):
        kind = "HTML"
    if not start:
        stream.reading.leave("files without text")
    elif kind in _CONVERTED:
        yield from _converted(stream, name, kind)
    elif kind != "text":
        # Nothing is guessed: an entry that cannot be read is counted as refused (decision 0043).
        yield refusal(kind)
    elif isinstance(text := _decoded(stream), BadFile):
        yield text
    else:
        front, body = parted(text, stream.reading) if matches(name, *PAGES) else ({}, text)
        yield from page(body, front, name, stream.reading)


def _decoded(stream: Counted) -> str | BadFile:
    raw = stream.within(_LONGEST_TEXT)
    if isinstance(raw, BadFile):
        return raw
    try:
        text = raw.decode("utf-16" if raw.startswith(UTF_16) else "utf-8-sig")
    except UnicodeDecodeError as error:
        return BadFile(f"Not UTF-8 at byte {error.start + 1}; save it as UTF-8.")
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _kind_of_packed(stream: Counted) -> str | None:
    try:
        with zipfile.ZipFile(io.BytesIO(stream.whole(_LARGEST))) as packed:
            if sum(info.file_size for info in packed.infolist()) > _LARGEST:
                return "an archive that is too large"
            return packed_kind(packed.namelist())
    except zipfile.BadZipFile:
        return "a ZIP archive that is cut off or damaged"


def _converted(stream: Counted, name: str, kind: str) -> Iterator[Found]:
    """Convert a document to markdown; its title is kept."""
    convert = _converter(kind)
    raw = stream.within(_LARGEST)
    if isinstance(raw, BadFile):
        yield raw
        return
    try:
        found = convert(io.BytesIO(raw))
    except Exception as error:  # noqa: BLE001 (converters raise whatever their libraries do)
        yield BadFile(f"The {kind} file cannot be read ({type(error).__name__}); is it damaged?")
        return
    text = found.markdown
    if not text.strip():
        yield BadFile(f"The {kind} file holds no text; if it has scanned pages, read them by OCR.")
    elif len(text.encode(errors="replace")) > _LONGEST_TEXT:
        yield BadFile(f"Its text is larger than {_LONGEST_TEXT / 1e6:.0f} MB; split it.")
    else:
        front = {"title": found.title} if found.title else {}
        yield from page(text, front, name, stream.reading)


def _converter(kind: str) -> Callable[[io.BytesIO], Any]:
    """Give the converter of one kind: left to itself, markitdown reads a damaged file as text."""
    try:
        # Only the converters of PDF and Word, with plugins off; pypdf and mammoth would be three
        # interfaces and our own glue (decision 0043).
        from markitdown import StreamInfo, converters  # noqa: PLC0415 (extra `documents`)
    except ModuleNotFoundError as missing:
        raise Misconfigured(
            f"Reading PDF, Word and HTML needs markitdown: {install('documents')}."
        ) from missing
    by_kind = {
        "PDF": converters.PdfConverter,
        "Word": converters.DocxConverter,
        "HTML": converters.HtmlConverter,
    }
    info = StreamInfo(extension=_CONVERTED[kind])
    converter = by_kind[kind]()
    return lambda stream: converter.convert(stream, info)
