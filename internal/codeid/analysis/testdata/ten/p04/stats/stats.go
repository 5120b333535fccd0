// Package stats has statistics.
package stats

import (
	"fmt"
	"iter"
	"log"
	"math"
	"math/rand/v2"
	"os"
	"slices"

	"programs/p04/matrix"
)

var logger = log.New(os.Stderr, "stats: ", 0)

// A Summary describes numbers.
type Summary struct {
	N                        int
	Mean, Var, Min, Max, Med float64
}

// An Accumulator collects numbers one by one.
type Accumulator struct {
	n        int
	mean, m2 float64
	values   []float64
}

// Add adds a number.
func (a *Accumulator) Add(x float64) {
	a.n++
	d := x - a.mean
	a.mean += d / float64(a.n)
	a.m2 += d * (x - a.mean)
	a.values = append(a.values, x)
}

// Summary ends it.
func (a *Accumulator) Summary() Summary {
	if a.n == 0 {
		logger.Println("nothing to summarize")
		return Summary{}
	}
	slices.Sort(a.values)
	return Summary{a.n, a.mean, a.m2 / float64(max(1, a.n-1)), a.values[0], a.values[a.n-1], Quantile(a.values, 0.5)}
}

// Summarize summarizes a sequence.
func Summarize(seq iter.Seq[float64]) Summary {
	var a Accumulator
	for x := range seq {
		a.Add(x)
	}
	return a.Summary()
}

// Quantile of sorted numbers.
func Quantile(sorted []float64, q float64) float64 {
	at := q * float64(len(sorted)-1)
	i := int(at)
	if i+1 >= len(sorted) {
		return sorted[len(sorted)-1]
	}
	f := at - float64(i)
	return sorted[i]*(1-f) + sorted[i+1]*f
}

// A Distribution gives random numbers.
type Distribution interface {
	Sample(r *rand.Rand) float64
	fmt.Stringer
}

type (
	// Normal is Gaussian.
	Normal struct{ Mean, Dev float64 }
	// Uniform is flat.
	Uniform struct{ From, To float64 }
	// Mixture is one of several.
	Mixture []Distribution
)

// Sample implements Distribution.
func (n Normal) Sample(r *rand.Rand) float64 { return n.Mean + n.Dev*r.NormFloat64() }

// Sample implements Distribution.
func (u Uniform) Sample(r *rand.Rand) float64 { return u.From + (u.To-u.From)*r.Float64() }

// Sample implements Distribution.
func (m Mixture) Sample(r *rand.Rand) float64 { return m[r.IntN(len(m))].Sample(r) }

func (n Normal) String() string  { return fmt.Sprintf("N(%g, %g)", n.Mean, n.Dev) }
func (u Uniform) String() string { return fmt.Sprintf("U(%g, %g)", u.From, u.To) }
func (m Mixture) String() string { return fmt.Sprintf("one of %v", []Distribution(m)) }

// Draw draws n numbers.
func Draw(d Distribution, seed uint64, n int) []float64 {
	r := rand.New(rand.NewPCG(seed, 7))
	out := make([]float64, n)
	for i := range out {
		out[i] = d.Sample(r)
	}
	return out
}

// Presets are distributions by name.
var Presets = map[string]Distribution{
	"normal":  Normal{0, 1},
	"uniform": Uniform{-1, 1},
	"bimodal": Mixture{Normal{-3, 1}, Normal{3, 0.5}},
}

// A Fit is a straight line or a curve.
type Fit struct {
	Coef []float64
	R2   float64
}

// Polynomial fits one by least squares.
func Polynomial(x, y []float64, degree int) (Fit, error) {
	if len(x) != len(y) {
		return Fit{}, matrix.ErrShape
	}
	a := matrix.New[float64](len(x), degree+1)
	for i, r := range a.All() {
		v := 1.0
		for j := range r {
			r[j] = v
			v *= x[i]
		}
	}
	at := a.T()
	ata, err := at.Mul(a)
	if err != nil {
		return Fit{}, err
	}
	aty, err := at.Mul(matrix.Matrix[float64]{Rows: len(y), Cols: 1, Data: y})
	if err != nil {
		return Fit{}, err
	}
	lu, err := matrix.Decompose(ata)
	if err != nil {
		return Fit{}, fmt.Errorf("degree %d: %w", degree, err)
	}
	f := Fit{Coef: lu.Solve(aty.Data)}
	mean := Summarize(slices.Values(y)).Mean
	var ss, rs float64
	for i := range x {
		e := y[i] - f.Eval(x[i])
		rs += e * e
		ss += (y[i] - mean) * (y[i] - mean)
	}
	f.R2 = 1 - rs/ss
	return f, nil
}

// Eval evaluates the curve.
func (f Fit) Eval(x float64) float64 {
	y := 0.0
	for _, c := range slices.Backward(f.Coef) {
		y = y*x + c
	}
	return y
}

// Correlation is Pearson's.
func Correlation(x, y []float64) float64 {
	sx, sy := Summarize(slices.Values(x)), Summarize(slices.Values(y))
	s := 0.0
	for i := range x {
		s += (x[i] - sx.Mean) * (y[i] - sy.Mean)
	}
	return s / float64(len(x)-1) / math.Sqrt(sx.Var*sy.Var)
}
