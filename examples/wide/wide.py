#!/usr/bin/env python3
"""Reads ten thousand inputs, writes the objective: python3 wide.py params.json result.json"""
import json
import sys

with open(sys.argv[1]) as file:
    x = json.load(file)["x"]
objective = (x[123] - 0.3) ** 2 + (x[4567] + 0.2) ** 2
with open(sys.argv[2], "w") as file:
    json.dump({"objective": objective}, file)
