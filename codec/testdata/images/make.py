"""Makes the images of this folder with other software, and expected.npz and
table.tsv with what other software reads in them.

    pip install pillow numpy tifffile imageio opencv-python-headless imagecodecs
    python make.py    # ImageMagick's convert must be on the path
"""
import io, os, subprocess, struct, zlib
import cv2, imageio.v3 as iio, numpy as np, tifffile
from PIL import Image

os.chdir(os.path.dirname(os.path.abspath(__file__)))
H, W = 17, 23
y, x = np.mgrid[0:H, 0:W]
rng = np.random.default_rng(1)
noise = rng.integers(0, 24, (H, W))
gray = ((x * 9 + y * 3 + noise) % 256).astype(np.uint8)
rgb = np.stack([(x * 11) % 256, (y * 15) % 256, (255 - x * 5 - y * 6) % 256], -1).astype(np.uint8)
rgb[4:9, 5:12] = (250, 10, 20)   # sharp edges of colour
rgb[6:14, 12:15] = (10, 20, 240)
alpha = np.where((x + y) % 5 == 0, 0, (x * 7 + 90) % 256).astype(np.uint8)
rgba = np.dstack([rgb, alpha])
ga = np.dstack([gray, alpha])
gray16 = (gray.astype(np.uint16) * 257 + x.astype(np.uint16)).astype(np.uint16)
rgb16 = (rgb.astype(np.uint16) * 256 + 77).astype(np.uint16)
rgba16 = np.dstack([rgb16, alpha.astype(np.uint16) * 257])
ga16 = np.dstack([gray16, alpha.astype(np.uint16) * 257])
f32 = (gray / 7 - 3).astype(np.float32)
bits = (gray > 90)
cmyk = np.dstack([255 - rgb, gray // 3])

rows, expected = [], {}

def expect(name, writer, reader, pixels, pages=1, tolerance=0):
    """Notes what reader sees in a file: pixels of shape (pages,) height, width (, channels)."""
    pixels = np.asarray(pixels)
    if pixels.dtype == bool:
        pixels = pixels.astype(np.uint8) * 255
    shape = pixels.shape[1:] if pages > 1 else pixels.shape
    channels = shape[2] if len(shape) == 3 else 1
    rows.append((name, writer, reader, pages, shape[0], shape[1], channels, pixels.dtype.name, tolerance))
    expected[name] = np.ascontiguousarray(pixels)

def pil(name, image, mode=None, tolerance=0, **options):
    image.save(name, **options)
    back = Image.open(name)
    if mode:
        back = back.convert(mode)
    a = np.asarray(back)
    expect(name, "Pillow", "Pillow", a, tolerance=tolerance)

def tif(name, data, pages=1, tolerance=0, **options):
    tifffile.imwrite(name, data, **options)
    expect(name, "tifffile", "tifffile", tifffile.imread(name), pages=pages, tolerance=tolerance)

def cv(name, data, tolerance=0, options=()):
    assert cv2.imwrite(name, data, list(options))
    back = cv2.imread(name, cv2.IMREAD_UNCHANGED)
    if back.ndim == 3:
        back = cv2.cvtColor(back, cv2.COLOR_BGRA2RGBA if back.shape[2] == 4 else cv2.COLOR_BGR2RGB)
    expect(name, "OpenCV", "OpenCV", back, tolerance=tolerance)

def magick(name, source, args, mode=None, reader="Pillow", tolerance=0, prefix=""):
    Image.fromarray(source).save("/tmp/source.png")
    subprocess.run(["convert", "/tmp/source.png", *args, prefix + name], check=True)
    if reader == "tifffile":
        expect(name, "ImageMagick", reader, tifffile.imread(name), tolerance=tolerance)
        return
    if reader == "OpenCV":
        back = cv2.imread(name, cv2.IMREAD_UNCHANGED)
        if back.ndim == 3:
            back = cv2.cvtColor(back, cv2.COLOR_BGRA2RGBA if back.shape[2] == 4 else cv2.COLOR_BGR2RGB)
        expect(name, "ImageMagick", reader, back, tolerance=tolerance)
        return
    back = Image.open(name)
    if mode:
        back = back.convert(mode)
    expect(name, "ImageMagick", reader, np.asarray(back), tolerance=tolerance)

# PNG
pil("gray.png", Image.fromarray(gray))
pil("gray-alpha.png", Image.fromarray(ga, "LA"))
pil("rgb.png", Image.fromarray(rgb))
pil("rgba.png", Image.fromarray(rgba))
pil("rgba-opaque.png", Image.fromarray(np.dstack([rgb, np.full((H, W), 255, np.uint8)])))
pil("bilevel.png", Image.fromarray(bits))
pil("gray16.png", Image.fromarray(gray16))
palette = Image.fromarray(rgb).quantize(16)
pil("palette.png", palette, "RGB")
pil("palette-2bit.png", Image.fromarray(rgb).quantize(4), "RGB")
pil("palette-alpha.png", palette, "RGBA", transparency=bytes([0, 100] + [255] * 14))
pil("rgb-transparent.png", Image.fromarray(rgb), "RGBA", transparency=(250, 10, 20))
pil("gray-transparent.png", Image.fromarray(gray), "LA", transparency=int(gray[3, 3]))
cv("rgb16.png", rgb16[..., ::-1].copy())
cv("rgba16.png", np.dstack([rgba16[..., 2], rgba16[..., 1], rgba16[..., 0], rgba16[..., 3]]))
magick("gray2.png", gray, ["-depth", "2", "-define", "png:bit-depth=2", "-define", "png:color-type=0"], "L")
magick("gray4.png", gray, ["-depth", "4", "-define", "png:bit-depth=4", "-define", "png:color-type=0"], "L")
magick("interlaced.png", rgb, ["-interlace", "PNG", "-define", "png:color-type=2"])

def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
raw = b"".join(b"\0" + row.astype(">u2").tobytes() for row in ga16)
open("gray-alpha16.png", "wb").write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", W, H, 16, 4, 0, 0, 0)) + chunk(b"IDAT", zlib.compress(raw)) + chunk(b"IEND", b""))
expect("gray-alpha16.png", "make.py", "make.py", ga16)

# JPEG: libjpeg-turbo and Go round the cosine transform and the colours each in a way of its own
for name, sub in ("444", 0), ("422", 1), ("420", 2):
    pil(f"{name}.jpg", Image.fromarray(rgb), tolerance=2, quality=90, subsampling=sub)
pil("gray.jpg", Image.fromarray(gray), tolerance=1, quality=90)
pil("progressive.jpg", Image.fromarray(rgb), tolerance=2, quality=80, progressive=True)
pil("low.jpg", Image.fromarray(rgb), tolerance=2, quality=20)
pil("cmyk.jpg", Image.fromarray(cmyk, "CMYK"), tolerance=2, quality=95)
pil("narrow.jpg", Image.fromarray(rgb[:, :3]), tolerance=2, quality=90)
pil("one.jpg", Image.fromarray(rgb[:1, :1]), tolerance=2, quality=90)
pil("even.jpg", Image.fromarray(rgb[:16, :16]), tolerance=2, quality=90)
pil("restart.jpg", Image.fromarray(rgb), tolerance=2, quality=90, restart_marker_blocks=1)
magick("440.jpg", rgb, ["-sampling-factor", "1x2", "-quality", "90"], tolerance=2)
magick("411.jpg", rgb, ["-sampling-factor", "4x1", "-quality", "90"], tolerance=2)
magick("ycck.jpg", rgb, ["-colorspace", "CMYK", "-quality", "95"], tolerance=2)
cv("opencv.jpg", rgb[..., ::-1].copy(), tolerance=2)

# BMP
pil("gray.bmp", Image.fromarray(gray))
pil("rgb.bmp", Image.fromarray(rgb))
pil("rgba.bmp", Image.fromarray(rgba))
pil("bilevel.bmp", Image.fromarray(bits))
pil("palette.bmp", palette, "RGB")
magick("bmp2.bmp", rgb, [], prefix="BMP2:")
magick("bmp3.bmp", rgb, [], prefix="BMP3:")
magick("bmp4-alpha.bmp", rgba, ["-define", "bmp:format=bmp4"])
magick("palette4.bmp", rgb, ["-colors", "12", "-type", "palette"], "RGB", prefix="BMP3:")
magick("rle8.bmp", rgb, ["-colors", "40", "-type", "palette", "-compress", "RLE"], "RGB", prefix="BMP3:")
magick("rgb555.bmp", rgb, ["-define", "bmp:subtype=RGB555"])
magick("rgb565.bmp", rgb, ["-define", "bmp:subtype=RGB565"])
cv("opencv.bmp", rgb[..., ::-1].copy())

# TIFF
tif("gray.tiff", gray)
tif("gray16.tiff", gray16)
tif("gray16-big-endian.tiff", gray16, byteorder=">")
tif("rgb.tiff", rgb, photometric="rgb")
tif("rgb16.tiff", rgb16, photometric="rgb", compression="zlib", predictor=True)
tif("rgba.tiff", rgba, photometric="rgb", extrasamples=["unassalpha"])
tif("rgba16.tiff", rgba16, photometric="rgb", extrasamples=["unassalpha"], compression="lzw")
tif("gray-alpha.tiff", ga, photometric="minisblack", extrasamples=["unassalpha"], planarconfig="contig")
tif("cmyk.tiff", cmyk, photometric="separated")
tif("planar.tiff", np.moveaxis(rgb, -1, 0).copy(), photometric="rgb", planarconfig="separate", metadata=None)
expected["planar.tiff"] = np.ascontiguousarray(rgb)
rows[-1] = ("planar.tiff", "tifffile", "tifffile", 1, H, W, 3, "uint8", 0)
tif("tiled.tiff", rgb, photometric="rgb", tile=(16, 16))
tif("bigtiff.tiff", rgb, photometric="rgb", bigtiff=True)
tif("float32.tiff", f32)
tif("float32-predictor.tiff", f32, compression="zlib", predictor=3)
tif("float16.tiff", f32.astype(np.float16))
tif("float64.tiff", f32.astype(np.float64))
tif("float32-rgb.tiff", rgb.astype(np.float32) / 255, photometric="rgb")
tif("uint32.tiff", gray.astype(np.uint32) * 16000001)
tif("int16.tiff", gray.astype(np.int16) - 100)
tif("int32-predictor.tiff", gray.astype(np.int32) * -1000001, compression="zlib", predictor=2)
tif("int8.tiff", gray.astype(np.int16).astype(np.int8))
tif("lzw.tiff", rgb, photometric="rgb", compression="lzw", predictor=True)
tif("packbits.tiff", rgb, photometric="rgb", compression="packbits")
tif("strips.tiff", rgb, photometric="rgb", rowsperstrip=5)
tif("pages.tiff", np.stack([gray, gray // 2, 255 - gray]), pages=3, photometric="minisblack")
tif("pages-rgb.tiff", np.stack([rgb, 255 - rgb]), pages=2, photometric="rgb", metadata=None)
tif("pages-float.tiff", np.stack([f32, -f32]), pages=2)
tif("miniswhite.tiff", gray, photometric="miniswhite")
expected["miniswhite.tiff"] = 255 - gray  # tifffile hands out what is stored, in which 0 is white
rows[-1] = rows[-1][:2] + ("make.py",) + rows[-1][3:]
iio.imwrite("pipewine.tiff", rgb, extension=".tiff", plugin="tifffile", compression="zlib", photometric=True)
expect("pipewine.tiff", "imageio", "imageio", iio.imread("pipewine.tiff", plugin="tifffile"))
iio.imwrite("pipewine-gray.tiff", gray, extension=".tiff", plugin="tifffile", compression="zlib", photometric=True)
expect("pipewine-gray.tiff", "imageio", "imageio", iio.imread("pipewine-gray.tiff", plugin="tifffile"))
iio.imwrite("pipewine-rgba.tiff", rgba, extension=".tiff", plugin="tifffile", compression="zlib", photometric=True)
expect("pipewine-rgba.tiff", "imageio", "imageio", iio.imread("pipewine-rgba.tiff", plugin="tifffile"))
pil("pillow.tiff", Image.fromarray(rgb))
pil("bilevel.tiff", Image.fromarray(bits))
pil("group4.tiff", Image.fromarray(bits), compression="group4")
pil("palette.tiff", palette, "RGB")
pil("float.tiff", Image.fromarray(f32))
pil("deflate.tiff", Image.fromarray(rgba), compression="tiff_adobe_deflate")
magick("gray4.tiff", gray, ["-depth", "4", "-type", "grayscale"], "L")
magick("magick16.tiff", rgb, ["-depth", "16"], reader="tifffile")
cv("opencv.tiff", rgb[..., ::-1].copy())
cv("opencv-float.tiff", rgb[..., ::-1].astype(np.float32) / 255)

# GIF, of which Pillow reads the first frame by itself
pil("palette.gif", palette, "RGB")
pil("gray.gif", Image.fromarray(gray), "RGB")
frames = [Image.fromarray(np.roll(rgb, 3 * i, 1)).quantize(32) for i in range(3)]
frames[0].save("frames.gif", save_all=True, append_images=frames[1:], duration=50, loop=0)
g = Image.open("frames.gif")
seen = []
for i in range(3):
    g.seek(i)
    seen.append(np.asarray(g.convert("RGB")))
expect("frames.gif", "Pillow", "Pillow", np.stack(seen), pages=3)
magick("transparent.gif", np.where(rgba[..., 3:] > 128, rgba, 0).astype(np.uint8), ["-colors", "30"], "RGBA")

# WebP
pil("lossless.webp", Image.fromarray(rgb), lossless=True)
pil("lossless-alpha.webp", Image.fromarray(rgba), lossless=True, exact=True)
pil("lossy.webp", Image.fromarray(rgb), tolerance=2, quality=80)
pil("lossy-alpha.webp", Image.fromarray(rgba), tolerance=2, quality=80, exact=True)

np.savez_compressed("expected.npz", **expected)
with open("table.tsv", "w") as f:
    f.write("file\twritten by\tread by\tpages\theight\twidth\tchannels\tdepth\ttolerance\n")
    for row in rows:
        f.write("\t".join(map(str, row)) + "\n")
print(len(rows), "images")
