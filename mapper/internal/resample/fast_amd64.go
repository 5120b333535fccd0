package resample

import "golang.org/x/sys/cpu"

// fast reports whether the processor has AVX2.
var fast = cpu.X86.HasAVX2

// fastBytes is the minimum length of a row for the vector code.
const fastBytes = 32

// downFast is [rows.each] for all bytes. ok is false if the vector code does not apply.
func downFast(row []int32, r rows) (ok bool) {
	if !fast || r.n < fastBytes {
		return false
	}
	_, _ = row[r.n-1], r.pix[(len(r.weights)-1)*r.stride+r.n-1]
	downAVX2(&row[0], &r.pix[0], r.n, r.stride, &r.weights[0], len(r.weights))
	return true
}

// alongFast is [alongEach]. ok is false if the vector code does not apply.
func alongFast(to []byte, row []int32, c columns) (ok bool) {
	if c.twice == nil {
		return false
	}
	_, _, _ = to[4*len(c.taps)-1], row[:cap(row)][4*(c.farthest+c.most)-1], c.twice[2*c.most*len(c.taps)-1]
	alongAVX2(&to[0], &row[0], &c.taps[0], len(c.taps), &c.twice[0], c.most)
	return true
}

// doubled returns the weights of all taps, each twice, padded with 0 to the same even
// number. It is nil if there is no vector code.
func doubled(all []taps, most int, buffer *[]int64) []int64 {
	if !fast {
		return nil
	}
	twice := sized(buffer, 2*most*len(all))
	clear(twice)
	for i, t := range all {
		to := twice[2*most*i:]
		for k, weight := range t.weights {
			to[2*k], to[2*k+1] = weight, weight
		}
	}
	return twice
}

// downAVX2 computes the same sums as rows.each, which is the reference.
//
//larder:version 1
//go:noescape
func downAVX2(row *int32, pix *byte, n, stride int, weights *int64, taps int)

// alongAVX2 computes the same pixels as alongEach, which is the reference.
//
//larder:version 1
//go:noescape
func alongAVX2(to *byte, row *int32, columns *taps, n int, twice *int64, most int)
