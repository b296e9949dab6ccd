"""tribo against what users would take instead; `python3 tools/race --help` says how."""
