"""Rewrite jars.lock after a change of the versions below; needs Maven, unlike the lock's users.

Usage: python scripts/relock_engine.py [MAVEN_OPTION ...]

GDS is compiled against one minor of Neo4j: change both together, then run the engine's tests.
"""

import hashlib
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

NEO4J = "2026.01.4"
GDS = "2.26.0"
LOCK = Path(__file__).parents[1] / "service" / "ecphoria" / "engine" / "jars.lock"

# Group, artifact, version (empty: as Neo4j has it). What Neo4j has for tests only, GDS needs.
WANTED = (
    ("org.neo4j", "neo4j", NEO4J),
    ("org.neo4j", "neo4j-import-tool", NEO4J),
    ("org.neo4j.app", "neo4j-server", NEO4J),
    ("org.neo4j.driver", "neo4j-java-driver", ""),
    ("org.neo4j.client", "neo4j-browser", "5.24.0"),
    ("org.neo4j.gds", "proc", GDS),
    ("org.neo4j.gds", "proc-sysinfo", GDS),
    ("org.neo4j.gds", "opengds-extension", GDS),
    ("org.neo4j.gds", "open-model-catalog", GDS),
    ("org.openjdk.jol", "jol-core", "0.17"),
    ("org.apache.commons", "commons-lang3", "3.18.0"),
    ("org.apache.commons", "commons-text", "1.14.0"),
)
POM = """<project>
  <modelVersion>4.0.0</modelVersion>
  <groupId>ecphoria</groupId><artifactId>engine</artifactId><version>1</version>
  <packaging>pom</packaging>
  <dependencyManagement><dependencies><dependency>
    <groupId>org.neo4j</groupId><artifactId>parent</artifactId><version>{neo4j}</version>
    <type>pom</type><scope>import</scope>
  </dependency></dependencies></dependencyManagement>
  <dependencies>{dependencies}</dependencies>
</project>
"""


def main() -> None:
    """Resolve, hash, write."""
    with tempfile.TemporaryDirectory() as place:
        jars = resolve(Path(place), sys.argv[1:])
        lines = sorted(lock_line(jars, jar) for jar in jars.rglob("*.jar"))
        total = sum(jar.stat().st_size for jar in jars.rglob("*.jar"))
    header = (f"# neo4j {NEO4J}", f"# gds {GDS}", f"# bytes {total}")
    LOCK.write_text("".join(f"{line}\n" for line in (*header, *lines)), encoding="utf-8")
    print(f"{len(lines)} jars, {total / 1e6:.0f} MB")


def resolve(place: Path, options: list[str]) -> Path:
    """Let Maven fetch the server and its dependencies, laid out as a repository."""
    (place / "pom.xml").write_text(
        POM.format(neo4j=NEO4J, dependencies="".join(dependency_elements())), encoding="utf-8"
    )
    jars = place / "jars"
    subprocess.run(  # noqa: S603 (the maintainer's own options)
        [  # noqa: S607 (the maintainer's Maven)
            "mvn",
            "-q",
            "-B",
            *options,
            "dependency:copy-dependencies",
            "-DincludeScope=runtime",
            "-DincludeTypes=jar",
            "-Dmdep.useRepositoryLayout=true",
            f"-DoutputDirectory={jars}",
        ],
        cwd=place,
        check=True,
    )
    return jars


def dependency_elements() -> Iterator[str]:
    """Write each wanted artifact as Maven reads it."""
    for group, artifact, version in WANTED:
        stated = f"<version>{version}</version>" if version else ""
        yield (
            f"<dependency><groupId>{group}</groupId><artifactId>{artifact}</artifactId>{stated}"
            "<scope>compile</scope></dependency>"
        )


def lock_line(root: Path, jar: Path) -> str:
    """Read the coordinates off the path, which holds them all."""
    *group, artifact, version, name = jar.relative_to(root).parts
    classifier = name.removeprefix(f"{artifact}-{version}").removesuffix(".jar")
    folder = "plugins" if group[:3] == ["org", "neo4j", "gds"] else "lib"
    sha256 = hashlib.sha256(jar.read_bytes()).hexdigest()
    coordinate = f"{'.'.join(group)}:{artifact}:{version}{classifier.replace('-', ':', 1)}"
    return f"{coordinate} {sha256} {folder}"


if __name__ == "__main__":
    main()
