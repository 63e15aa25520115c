"""Random numbers drawn inside compiled code, bit for bit those of numpy's generators."""
