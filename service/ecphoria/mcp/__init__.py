"""The MCP server: the memory as tools, resources and prompts for agents."""
