package resample

// Fraction bits of the sums after both steps, and a half for rounding.
const (
	sumBits = 2 * weightBits
	sumHalf = 1 << (sumBits - 1)
)

func alongGrey(to []byte, row []int32, c columns) {
	for x := range to {
		t := &c.taps[x]
		sum := int64(sumHalf)
		for i, v := range row[t.first:][:len(t.weights)] {
			sum += t.weights[i] * int64(v)
		}
		to[x] = level(sum >> sumBits)
	}
}

func alongColours(to []byte, row []int32, c columns) {
	if !alongFast(to, row, c) {
		alongEach(to, row, c)
	}
}

// alongEach blends pixels one after another.
func alongEach(to []byte, row []int32, c columns) {
	for x := range c.taps {
		t := &c.taps[x]
		r, g, b := int64(sumHalf), int64(sumHalf), int64(sumHalf)
		pixels := row[4*t.first:][:4*len(t.weights)]
		for _, weight := range t.weights {
			p := pixels[:4]
			r += weight * int64(p[0])
			g += weight * int64(p[1])
			b += weight * int64(p[2])
			pixels = pixels[4:]
		}
		out := to[4*x:][:4]
		out[0], out[1], out[2], out[3] = level(r>>sumBits), level(g>>sumBits), level(b>>sumBits), 255
	}
}

func level(v int64) byte { return byte(min(255, max(0, v))) }
