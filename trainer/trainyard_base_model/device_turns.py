"""How the trainer of a pod asks its engine for their common device: single bytes over a Unix socket.

The connection is the trainer's hold on the device. When it breaks, the engine wakes.
"""

# The variable with the path of the engine's socket. It is set only if the two share a device.
SOCKET_VARIABLE = "TRAINYARD_DEVICE_SOCKET"

# From the trainer.
WANT = b"w"
RELEASE = b"r"
# From the engine.
GRANTED = b"g"
YIELD = b"y"
