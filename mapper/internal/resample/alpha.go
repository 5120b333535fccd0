package resample

import "encoding/binary"

// alphaBits are the low bits that products of colour and alpha drop to fit.
const alphaBits = 8

// downAlpha blends colours by their alpha.
func downAlpha(row []int32, sums []int64, rows rows) {
	clear(sums)
	rows.two(func(p, q []byte, v, w int64) { addAlpha(sums, p, q, v, w) })
	const half = 1 << (alphaBits - 1)
	for x := 0; x+4 <= rows.n; x += 4 {
		from, to := sums[x:][:4], row[x:][:4]
		to[0], to[1], to[2], to[3] = int32((from[0]+half)>>alphaBits), int32((from[1]+half)>>alphaBits), int32((from[2]+half)>>alphaBits), int32(from[3])
	}
}

func addAlpha(sums []int64, p, q []byte, v, w int64) {
	for at := 0; at+4 <= min(len(p), len(q)); at += 4 {
		x, y := binary.LittleEndian.Uint32(p[at:]), binary.LittleEndian.Uint32(q[at:])
		if (x|y)>>24 == 0 {
			continue // transparent pixels have no weight
		}
		v, w, to := v*int64(x>>24), w*int64(y>>24), sums[at:][:4]
		to[0] += v*int64(x&0xff) + w*int64(y&0xff)
		to[1] += v*int64(x>>8&0xff) + w*int64(y>>8&0xff)
		to[2] += v*int64(x>>16&0xff) + w*int64(y>>16&0xff)
		to[3] += v + w
	}
}

func alongAlpha(to []byte, row []int32, c columns) {
	for x := range c.taps {
		t := &c.taps[x]
		var r, g, b, a int64
		pixels := row[4*t.first:][:4*len(t.weights)]
		for _, weight := range t.weights {
			p := pixels[:4]
			r += weight * int64(p[0])
			g += weight * int64(p[1])
			b += weight * int64(p[2])
			a += weight * int64(p[3])
			pixels = pixels[4:]
		}
		out := to[4*x:][:4]
		if out[3] = level((a + sumHalf) >> sumBits); out[3] == 0 {
			continue // no colour
		}
		out[0], out[1], out[2] = level((r<<alphaBits+a/2)/a), level((g<<alphaBits+a/2)/a), level((b<<alphaBits+a/2)/a)
	}
}
