"""Tools that people already use, thin over the verifier: MCP, Haystack, LangChain, LlamaIndex, deepeval.

Each module needs the extra of its name.
"""
