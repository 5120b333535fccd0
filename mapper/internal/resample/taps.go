package resample

import (
	"math"

	"golang.org/x/image/draw"
)

// weightBits are the fraction bits of weights. More would not fit into 32 bits, because
// sums of lanczos reach one and a half times the 8-bit range.
const weightBits = 21

// taps are the source pixels of one pixel: consecutive ones from first on, each with
// its weight.
type taps struct {
	first   int
	weights []int64
}

// columns are the taps of the pixels of a row.
type columns struct {
	taps           []taps
	twice          []int64 // their weights for vector code; nil without it
	most, farthest int     // the most weights of a pixel, rounded up to even; the greatest first
}

func columnsOf(all []taps, kind Kind, twice *[]int64) columns {
	c := columns{taps: all}
	for _, t := range all {
		c.most, c.farthest = max(c.most, (len(t.weights)+1)&^1), max(c.farthest, t.first)
	}
	if kind == Colour {
		c.twice = doubled(all, c.most, twice)
	}
	return c
}

// weights is scratch memory for the weights of many pixels.
type weights struct {
	taps  []taps
	whole []int64
	exact []float64
}

// weigh returns the taps of n pixels, scaled from size pixels with draw.Kernel's
// weights. The weights of each pixel have the sum 1<<weightBits.
func (w *weights) weigh(k *draw.Kernel, n, size int) []taps {
	all := sized(&w.taps, n)
	scale := float64(size) / float64(n)
	wide := max(scale, 1) // shrinking uses all source pixels
	most := min(size, int(2*k.Support*wide)+3)
	list, exact := sized(&w.whole, n*most)[:0], sized(&w.exact, most)[:0]
	for i := range all {
		center := (float64(i)+0.5)*scale - 0.5
		from := max(0, int(math.Floor(center-k.Support*wide)))
		to := min(size, int(math.Ceil(center+k.Support*wide))+1)
		exact = exact[:0]
		sum := 0.0
		for j := from; j < to; j++ {
			weight := 0.0
			if t := math.Abs(center-float64(j)) / wide; t < k.Support {
				weight = k.At(t)
			}
			exact = append(exact, weight)
			sum += weight
		}
		all[i] = whole(list[len(list):], from, exact, sum)
		list = list[:len(list)+len(all[i].weights)]
	}
	return all
}

// whole appends weights as integers. It carries the rounding error of one to the next,
// so that the sum is exact.
func whole(to []int64, from int, exact []float64, sum float64) taps {
	for len(exact) > 1 && exact[0] == 0 {
		from, exact = from+1, exact[1:]
	}
	for len(exact) > 1 && exact[len(exact)-1] == 0 {
		exact = exact[:len(exact)-1]
	}
	done, upTo := int64(0), 0.0
	for _, weight := range exact {
		upTo += weight
		until := int64(math.Round(upTo / sum * float64(int64(1)<<weightBits)))
		to = append(to, until-done)
		done = until
	}
	return taps{from, to}
}
