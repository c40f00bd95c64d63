"""Numbers of variable length: seven bits a byte, the lowest first, and a high bit in all bytes but the last."""


def take_varint(data, at):
    """Returns the number at an offset, and the offset behind it. It must not be longer than it needs to be, nor than 64 bits."""
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            assert byte or shift == 7, "a number is longer than it must be"
            assert value < 1 << 64
            return value, at
