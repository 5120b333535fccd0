package codec

import (
	"errors"
	"fmt"

	"github.com/larder-data/larder/array"
)

// A tiffPage is one image of a TIFF file.
type tiffPage struct {
	tiffDirectory
	width, height int
	samples       int // per pixel
	bits          int // per sample
	dtype         array.DType
	photometric   uint64
	compression   uint64
	predictor     uint64
	planes        int // number of separate planes, 1 if samples are interleaved
	block         tiffBlock
}

// A tiffBlock is the division of a page into strips or tiles.
type tiffBlock struct {
	width, height  int
	across, down   int
	offsets, sizes []uint64
}

// The supported meanings of samples.
const (
	whiteIsZero = 0
	blackIsZero = 1
	colourRGB   = 2
	paletted    = 3
	separated   = 5
)

func newTIFFPage(d tiffDirectory) (*tiffPage, error) {
	p := &tiffPage{tiffDirectory: d, compression: d.number(tagCompression, 1), predictor: d.number(tagPredictor, 1), planes: 1}
	width, height, samples := d.number(tagWidth, 0), d.number(tagHeight, 0), d.number(tagSamples, 1)
	const most = 1 << 31
	if width >= most || height >= most || samples == 0 || samples > 1<<16 {
		return nil, fmt.Errorf("an image of %d x %d pixels of %d samples", width, height, samples)
	}
	p.width, p.height, p.samples = int(width), int(height), int(samples)
	if err := checkSize(p.width, p.height); err != nil {
		return nil, err
	}
	if int64(p.width)*int64(p.height) > max(4*pixelLimit(), pixelLimit())/int64(p.samples) {
		return nil, fmt.Errorf("%d x %d pixels of %d samples; %w", p.width, p.height, p.samples, morePixels)
	}
	if d.number(tagImageDepth, 1) > 1 || d.number(tagTileDepth, 1) > 1 {
		return nil, errors.New("volumes are not supported; save each layer as a page")
	}
	if d.number(tagPlanar, 1) == 2 {
		p.planes = p.samples
	}
	if err := p.setType(); err != nil {
		return nil, err
	}
	if err := p.setMeaning(); err != nil {
		return nil, err
	}
	return p, p.setBlocks()
}

// setType finds the type of the numbers.
func (p *tiffPage) setType() error {
	width, err := p.same(tagBits, 1)
	if err != nil {
		return err
	}
	format, err := p.same(tagSampleFormat, 1)
	if err != nil {
		return err
	}
	known := map[[2]uint64]array.DType{
		{1, 1}: array.Uint8, {1, 2}: array.Uint8, {1, 4}: array.Uint8,
		{1, 8}: array.Uint8, {1, 16}: array.Uint16, {1, 32}: array.Uint32, {1, 64}: array.Uint64,
		{2, 8}: array.Int8, {2, 16}: array.Int16, {2, 32}: array.Int32, {2, 64}: array.Int64,
		{3, 16}: array.Float16, {3, 32}: array.Float32, {3, 64}: array.Float64,
	}
	if format == 4 { // undefined
		format = 1
	}
	ok := false
	if p.dtype, ok = known[[2]uint64{format, width}]; !ok {
		return fmt.Errorf("samples of %d bits of format %d are not supported; save 8, 16, 32 or 64 bits", width, format)
	}
	p.bits = int(width)
	return nil
}

// setMeaning checks what the samples mean.
func (p *tiffPage) setMeaning() error {
	p.photometric = p.number(tagPhotometric, blackIsZero)
	least := 1
	switch p.photometric {
	case whiteIsZero:
		if p.dtype != array.Uint8 && p.dtype != array.Uint16 {
			return fmt.Errorf("white-is-zero images of type %v are not supported; save black-is-zero", p.dtype)
		}
	case blackIsZero:
	case colourRGB:
		least = 3
	case paletted:
		if p.samples != 1 || p.bits > 8 {
			return fmt.Errorf("a palette with %d samples of %d bits", p.samples, p.bits)
		}
	case separated:
		least = 4
	case 6:
		return errors.New("YCbCr is not supported; save as RGB")
	default:
		return fmt.Errorf("photometric interpretation %d is not supported; save as RGB", p.photometric)
	}
	if p.samples < least {
		return fmt.Errorf("%d samples per pixel, but the colours need %d", p.samples, least)
	}
	if p.predictor == 3 && (p.dtype < array.Float16 || p.dtype > array.Float64) || p.predictor == 2 && p.bits < 8 || p.predictor > 3 || p.predictor == 0 {
		return fmt.Errorf("predictor %d with samples of %v is not supported; save without predictor", p.predictor, p.dtype)
	}
	return nil
}

// setBlocks finds the strips or tiles, which must exist and be large enough.
func (p *tiffPage) setBlocks() error {
	b := tiffBlock{width: p.width, height: int(min(p.number(tagRowsPerStrip, uint64(p.height)), uint64(p.height)))}
	b.offsets, b.sizes = p.numbers(tagStripOffsets), p.numbers(tagStripBytes)
	if tile := p.number(tagTileWidth, 0); tile != 0 {
		high := p.number(tagTileHeight, 0)
		if tile > 1<<20 || high > 1<<20 || tile*high > uint64(pixelLimit()) {
			return fmt.Errorf("tiles of %d x %d pixels", tile, high)
		}
		b.width, b.height = int(tile), int(high)
		b.offsets, b.sizes = p.numbers(tagTileOffsets), p.numbers(tagTileBytes)
		if len(b.offsets) == 0 {
			b.offsets, b.sizes = p.numbers(tagStripOffsets), p.numbers(tagStripBytes)
		}
	}
	if b.width == 0 || b.height == 0 {
		return errors.New("strips or tiles without pixels")
	}
	b.across, b.down = (p.width+b.width-1)/b.width, (p.height+b.height-1)/b.height
	need := b.across * b.down * p.planes
	if len(b.sizes) == 0 && need == 1 && p.compression == 1 && len(b.offsets) == 1 {
		b.sizes = []uint64{uint64(p.rowBytes() * p.height)}
	}
	if len(b.offsets) < need || len(b.sizes) < need {
		return fmt.Errorf("%d strips or tiles are needed, but there are %d", need, min(len(b.offsets), len(b.sizes)))
	}
	p.block = b
	return p.checkStored(need)
}

// tiffRatios are the greatest compression ratios.
var tiffRatios = map[uint64]uint64{1: 1, 5: 2731, 8: 1040, 32946: 1040, 32773: 64}

// checkStored refuses a page whose pixels cannot come from so few stored bytes.
func (p *tiffPage) checkStored(blocks int) error {
	ratio, ok := tiffRatios[p.compression]
	if !ok {
		return nil // fax has no bound; unpack refuses the rest
	}
	stored := uint64(0)
	for _, n := range p.block.sizes[:blocks] {
		stored += min(n, uint64(len(p.file.b)))
	}
	if want := uint64(p.rowBytes()) * uint64(p.height); want/uint64(p.planes) > stored*ratio {
		return fmt.Errorf("%d x %d pixels cannot be stored in %d bytes", p.width, p.height, stored)
	}
	return nil
}

// side returns the number of interleaved samples.
func (p *tiffPage) side() int { return p.samples / p.planes }

// rowBytes returns the size of one row of a page or of one of its planes.
func (p *tiffPage) rowBytes() int { return (p.width*p.side()*p.bits + 7) / 8 }

// read returns all samples of the page: (height, width, samples), little-endian, at least 8
// bits each.
func (p *tiffPage) read() ([]byte, error) {
	size := p.dtype.Size()
	out := make([]byte, p.width*p.height*p.samples*size)
	i := 0
	for plane := range p.planes {
		for down := range p.block.down {
			for across := range p.block.across {
				data, err := p.unpackBlock(i, p.blockRows(down))
				if err != nil {
					return nil, fmt.Errorf("strip or tile %d: %w", i, err)
				}
				p.place(out, data, plane, across, down)
				i++
			}
		}
	}
	return out, nil
}

// blockRows returns the number of rows of a block: a tile is always whole, the last strip
// has the remaining rows.
func (p *tiffPage) blockRows(down int) int {
	if p.block.width == p.width && p.number(tagTileWidth, 0) == 0 {
		return min(p.block.height, p.height-down*p.block.height)
	}
	return p.block.height
}

// place copies the samples of a block to their positions.
func (p *tiffPage) place(out, data []byte, plane, across, down int) {
	size := p.dtype.Size()
	from := p.side() * size // bytes of a pixel in the block
	to := p.samples * size
	wide := min(p.block.width, p.width-across*p.block.width)
	high := min(p.block.height, p.height-down*p.block.height)
	for y := range high {
		src := data[y*p.block.width*from:][:wide*from]
		dst := out[((down*p.block.height+y)*p.width+across*p.block.width)*to+plane*size:]
		if p.planes == 1 {
			copy(dst, src)
			continue
		}
		for x := range wide {
			copy(dst[x*to:x*to+size], src[x*from:])
		}
	}
}
