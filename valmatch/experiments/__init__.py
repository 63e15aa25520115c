"""What the commands do with a model: record, replicate, compare, sweep, combine."""
