"""The beginning of small conversation files: a shop that knows one order and has one tool.

A test adds its own turns to it. What makes a file sound or broken is in test_scripts.py.
"""

SHOP = """\
system = "You help a shop."
[facts]
order = ["48213"]
[[tools]]
name = "lookup_order"
description = "Look up an order."
parameters = { type = "object", properties = { order_id = { type = "string" } } }
"""
