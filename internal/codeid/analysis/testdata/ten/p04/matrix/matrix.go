// Package matrix has dense matrices of numbers.
package matrix

import (
	"errors"
	"fmt"
	"iter"
	"math"
	"strings"
)

// Float is what matrices hold.
type Float interface{ ~float32 | ~float64 }

// A Matrix is dense, row by row.
type Matrix[T Float] struct {
	Rows, Cols int
	Data       []T
}

// Errors of this package.
var (
	ErrSingular = errors.New("matrix: singular")
	ErrShape    = errors.New("matrix: shapes do not fit")
)

// New returns a matrix of zeros.
func New[T Float](rows, cols int) Matrix[T] {
	return Matrix[T]{rows, cols, make([]T, rows*cols)}
}

// FromRows makes a matrix.
func FromRows[T Float](rows ...[]T) (Matrix[T], error) {
	if len(rows) == 0 {
		return Matrix[T]{}, nil
	}
	m := New[T](len(rows), len(rows[0]))
	for i, r := range rows {
		if len(r) != m.Cols {
			return m, fmt.Errorf("%w: row %d has %d values, not %d", ErrShape, i, len(r), m.Cols)
		}
		copy(m.Row(i), r)
	}
	return m, nil
}

// Identity is 1.
func Identity[T Float](n int) Matrix[T] {
	m := New[T](n, n)
	for i := range n {
		m.Set(i, i, 1)
	}
	return m
}

// At is an element.
func (m Matrix[T]) At(i, j int) T { return m.Data[i*m.Cols+j] }

// Set sets an element.
func (m Matrix[T]) Set(i, j int, v T) { m.Data[i*m.Cols+j] = v }

// Row is a view of a row.
func (m Matrix[T]) Row(i int) []T { return m.Data[i*m.Cols : (i+1)*m.Cols] }

// All yields rows.
func (m Matrix[T]) All() iter.Seq2[int, []T] {
	return func(yield func(int, []T) bool) {
		for i := range m.Rows {
			if !yield(i, m.Row(i)) {
				return
			}
		}
	}
}

// Col yields the values of a column.
func (m Matrix[T]) Col(j int) iter.Seq[T] {
	return func(yield func(T) bool) {
		for i := 0; i < m.Rows && yield(m.At(i, j)); i++ {
		}
	}
}

// Map applies f to each value.
func (m Matrix[T]) Map(f func(T) T) Matrix[T] {
	out := New[T](m.Rows, m.Cols)
	for i, v := range m.Data {
		out.Data[i] = f(v)
	}
	return out
}

// T is the transposed matrix.
func (m Matrix[T]) T() Matrix[T] {
	out := New[T](m.Cols, m.Rows)
	for i, r := range m.All() {
		for j, v := range r {
			out.Set(j, i, v)
		}
	}
	return out
}

// Mul multiplies.
func (m Matrix[T]) Mul(n Matrix[T]) (Matrix[T], error) {
	if m.Cols != n.Rows {
		return Matrix[T]{}, fmt.Errorf("%w: %dx%d by %dx%d", ErrShape, m.Rows, m.Cols, n.Rows, n.Cols)
	}
	out := New[T](m.Rows, n.Cols)
	for i := range m.Rows {
		row := out.Row(i)
		for k, a := range m.Row(i) {
			for j, b := range n.Row(k) {
				row[j] += a * b
			}
		}
	}
	return out, nil
}

// String implements fmt.Stringer.
func (m Matrix[T]) String() string {
	var b strings.Builder
	for _, r := range m.All() {
		for j, v := range r {
			if j > 0 {
				b.WriteByte(' ')
			}
			fmt.Fprintf(&b, "%.4g", float64(v))
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// An LU is a decomposition with pivots.
type LU[T Float] struct {
	M     Matrix[T]
	Pivot []int
	Sign  T
}

// Decompose finds an LU.
func Decompose[T Float](m Matrix[T]) (*LU[T], error) {
	if m.Rows != m.Cols {
		return nil, ErrShape
	}
	lu := &LU[T]{M: m.Map(func(v T) T { return v }), Sign: 1}
	for i := range m.Rows {
		lu.Pivot = append(lu.Pivot, i)
	}
	for k := range m.Rows {
		p := k
		for i := k + 1; i < m.Rows; i++ {
			if math.Abs(float64(lu.M.At(i, k))) > math.Abs(float64(lu.M.At(p, k))) {
				p = i
			}
		}
		if lu.M.At(p, k) == 0 {
			return nil, ErrSingular
		}
		if p != k {
			lu.swap(p, k)
		}
		for i := k + 1; i < m.Rows; i++ {
			f := lu.M.At(i, k) / lu.M.At(k, k)
			lu.M.Set(i, k, f)
			for j := k + 1; j < m.Cols; j++ {
				lu.M.Set(i, j, lu.M.At(i, j)-f*lu.M.At(k, j))
			}
		}
	}
	return lu, nil
}

func (lu *LU[T]) swap(a, b int) {
	ra, rb := lu.M.Row(a), lu.M.Row(b)
	for j := range ra {
		ra[j], rb[j] = rb[j], ra[j]
	}
	lu.Pivot[a], lu.Pivot[b] = lu.Pivot[b], lu.Pivot[a]
	lu.Sign = -lu.Sign
}

// Det is the determinant.
func (lu *LU[T]) Det() T {
	d := lu.Sign
	for i := range lu.M.Rows {
		d *= lu.M.At(i, i)
	}
	return d
}

// Solve solves for a vector.
func (lu *LU[T]) Solve(b []T) []T {
	n := lu.M.Rows
	x := make([]T, n)
	for i := range n {
		x[i] = b[lu.Pivot[i]]
		for j := range i {
			x[i] -= lu.M.At(i, j) * x[j]
		}
	}
	for i := n - 1; i >= 0; i-- {
		for j := i + 1; j < n; j++ {
			x[i] -= lu.M.At(i, j) * x[j]
		}
		x[i] /= lu.M.At(i, i)
	}
	return x
}
