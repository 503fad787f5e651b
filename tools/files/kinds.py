"""What a file that is no text is, told by its first bytes, and what to do with it instead."""

from __future__ import annotations

from dataclasses import dataclass

IMAGE_HINT = "This is an image. Use vision_analyze to look at it."
OTHER_HINT = "This is a binary file. Use a program or a library that knows its format."


@dataclass(frozen=True, slots=True)
class Kind:
    name: str
    hint: str
    is_image: bool = False


SIGNATURES = (
    (b"\x89PNG\r\n\x1a\n", Kind("PNG", IMAGE_HINT, True)),
    (b"\xff\xd8\xff", Kind("JPEG", IMAGE_HINT, True)),
    (b"GIF87a", Kind("GIF", IMAGE_HINT, True)),
    (b"GIF89a", Kind("GIF", IMAGE_HINT, True)),
    (b"BM", Kind("BMP", IMAGE_HINT, True)),
    (b"II*\0", Kind("TIFF", IMAGE_HINT, True)),
    (b"MM\0*", Kind("TIFF", IMAGE_HINT, True)),
    (b"\0\0\1\0", Kind("ICO", IMAGE_HINT, True)),
    (b"%PDF-", Kind("PDF", "This is a PDF. Extract its text with pdftotext, or pypdf in Python.")),
    (
        b"PK\x03\x04",
        Kind("ZIP", "This is a zip archive (also: docx, xlsx, npz). Open it with Python."),
    ),
    (b"\x1f\x8b", Kind("gzip", "This is compressed with gzip. Use gzip or zcat.")),
    (b"SQLite format 3\0", Kind("SQLite", "This is an SQLite database. Use sqlite3 in Python.")),
    (b"PAR1", Kind("Parquet", "This is a Parquet table. Use pandas.read_parquet.")),
    (b"\x89HDF", Kind("HDF5", "This is an HDF5 file. Use h5py, or pandas.read_hdf.")),
    (b"\x93NUMPY", Kind("NumPy", "This is a NumPy array. Use numpy.load.")),
)


def kind_of(head: bytes) -> Kind:
    if head[:4] == b"RIFF" and head[8:12] == b"WEBP":
        return Kind("WebP", IMAGE_HINT, True)
    known = (kind for signature, kind in SIGNATURES if head.startswith(signature))
    return next(known, Kind("binary", OTHER_HINT))
