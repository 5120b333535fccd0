package resample

// rows are rows of an image, each of n bytes, with their weights.
type rows struct {
	pix       []byte
	stride, n int
	weights   []int64
}

// two calls add for each pair of rows and their weights; a single last row is paired
// with weight 0.
func (r rows) two(add func(p, q []byte, v, w int64)) {
	for i := 0; i < len(r.weights); i += 2 {
		p := r.pix[i*r.stride:][:r.n]
		if i+1 == len(r.weights) {
			add(p, p, r.weights[i], 0)
			break
		}
		add(p, r.pix[(i+1)*r.stride:][:r.n], r.weights[i], r.weights[i+1])
	}
}

// each blends the bytes from an offset to the end of the rows one by one.
func (r rows) each(row []int32, from int) {
	for x := from; x < r.n; x++ {
		sum := int64(0)
		for i, weight := range r.weights {
			sum += weight * int64(r.pix[i*r.stride+x])
		}
		row[x] = int32(sum)
	}
}

// pairs masks the low bytes of the two halves of a number, so that one multiplication
// blends two bytes.
const pairs = 0x000000ff_000000ff

func downGrey(row []int32, sums []int64, rows rows) {
	if downFast(row, rows) {
		return
	}
	clear(sums)
	whole := rows.n &^ 7
	rows.two(func(p, q []byte, v, w int64) { addFour(sums, p, q, v, w) })
	for x := 0; x < whole; x += 8 {
		apart(row[x:][:8], sums[x/2:][:4])
	}
	rows.each(row, whole)
}

// downColours leaves out the fourth byte of each pixel.
func downColours(row []int32, sums []int64, rows rows) {
	if downFast(row, rows) {
		return
	}
	clear(sums)
	whole := rows.n &^ 7
	rows.two(func(p, q []byte, v, w int64) { addThree(sums, p, q, v, w) })
	for x := 0; x < whole; x += 8 {
		apart(row[x:][:8], sums[x/8*3:][:3])
	}
	rows.each(row, whole)
}

// apart unpacks the two halves of each sum. A negative lower half has borrowed from the
// upper one.
func apart(row []int32, sums []int64) {
	for i, both := range sums {
		low := int32(both)
		row[i], row[i+4] = low, int32((both-int64(low))>>32)
	}
}

// addFour adds each eight bytes of two rows to four sums.
func addFour(sums []int64, p, q []byte, v, w int64) {
	q = q[:len(p)]
	for at, i := 0, 0; at < len(p)-7 && i < len(sums)-3; at, i = at+8, i+4 {
		x, y := eight(p, at), eight(q, at)
		sums[i] += v*int64(x&pairs) + w*int64(y&pairs)
		sums[i+1] += v*int64(x>>8&pairs) + w*int64(y>>8&pairs)
		sums[i+2] += v*int64(x>>16&pairs) + w*int64(y>>16&pairs)
		sums[i+3] += v*int64(x>>24&pairs) + w*int64(y>>24&pairs)
	}
}

// addThree is addFour without the fourth and the last byte.
func addThree(sums []int64, p, q []byte, v, w int64) {
	q = q[:len(p)]
	for at, i := 0, 0; at < len(p)-7 && i < len(sums)-2; at, i = at+8, i+3 {
		x, y := eight(p, at), eight(q, at)
		sums[i] += v*int64(x&pairs) + w*int64(y&pairs)
		sums[i+1] += v*int64(x>>8&pairs) + w*int64(y>>8&pairs)
		sums[i+2] += v*int64(x>>16&pairs) + w*int64(y>>16&pairs)
	}
}

// eight decodes eight bytes like encoding/binary, but is faster in loops because it
// needs no slicing.
func eight(b []byte, at int) uint64 {
	return uint64(b[at]) | uint64(b[at+1])<<8 | uint64(b[at+2])<<16 | uint64(b[at+3])<<24 |
		uint64(b[at+4])<<32 | uint64(b[at+5])<<40 | uint64(b[at+6])<<48 | uint64(b[at+7])<<56
}
