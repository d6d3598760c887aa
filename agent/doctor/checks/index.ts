// The registry of checks: one line each. They are told by group, within it in this order.
