"""A photograph as a camera's sensor sees it, in a file as plain as DNG allows: 16 bits a pixel behind Bayer's pattern."""

import struct

BYTE, ASCII, SHORT, LONG, RATIONAL, SRATIONAL = 1, 2, 3, 4, 5, 10
LETTERS = {BYTE: "B", ASCII: "B", SHORT: "H", LONG: "I", RATIONAL: "I", SRATIONAL: "i"}
NUMBERS = {RATIONAL: 2, SRATIONAL: 2}  # of which a value consists; else 1


def raw_photograph(width, height):
    """The file's bytes: header, pixels, one directory, and what did not fit into its entries."""
    pixels = b"".join(struct.pack("<H", 1000 + (x * 37 + y * 53 + x * y % 911 * 40) % 50000)
                      for y in range(height) for x in range(width))
    to_camera = [7000, -1500, -600, -4500, 12500, 2200, -700, 1400, 6000]  # from XYZ, in ten thousandths
    fields = [
        (254, LONG, [0]), (256, LONG, [width]), (257, LONG, [height]),
        (258, SHORT, [16]), (259, SHORT, [1]), (262, SHORT, [32803]),  # bits, uncompressed, a colour filter array
        (271, ASCII, b"Nobody\0"), (272, ASCII, b"None\0"), (273, LONG, [8]), (274, SHORT, [1]), (277, SHORT, [1]),
        (278, LONG, [height]), (279, LONG, [len(pixels)]), (284, SHORT, [1]),
        (33421, SHORT, [2, 2]), (33422, BYTE, [0, 1, 1, 2]),  # the pattern: red green, green blue
        (50706, BYTE, [1, 4, 0, 0]), (50708, ASCII, b"None\0"), (50714, SHORT, [512]), (50717, LONG, [65535]),
        (50721, SRATIONAL, [number for each in to_camera for number in (each, 10000)]),
        (50728, RATIONAL, [1, 2, 1, 1, 2, 3]), (50778, SHORT, [21])]  # what is neutral, under daylight
    directory = 8 + len(pixels)
    entries, beyond = b"", b""
    for tag, kind, numbers in fields:
        data = struct.pack(f"<{len(numbers)}{LETTERS[kind]}", *numbers)
        if len(data) > 4:
            place = directory + 2 + 12 * len(fields) + 4 + len(beyond)
            beyond += data + b"\0" * (len(data) % 2)
            data = struct.pack("<I", place)
        entries += struct.pack("<HHI", tag, kind, len(numbers) // NUMBERS.get(kind, 1)) + data.ljust(4, b"\0")
    return (struct.pack("<2sHI", b"II", 42, directory) + pixels + struct.pack("<H", len(fields)) + entries
            + struct.pack("<I", 0) + beyond)
