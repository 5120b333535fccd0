package op

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math/bits"
	"slices"
	"strconv"

	"github.com/larder-data/larder/component"
)

// byHash assigns each sample to the part whose share contains the hash of its value.
func (s Split) byHash(ctx context.Context, env *component.Env, parts []part, in component.Samples) (component.Data, error) {
	values, err := scan(ctx, env, "split", s.Hash, in, groupName)
	if err != nil {
		return component.Data{}, err
	}
	return gather(in, parts, func(i int) int { return partAt(parts, hashed(s.Seed, values[i])) })
}

// hashed returns a number in [0, 1) that is a function of a seed and a string.
func hashed(seed int, text string) float64 {
	sum := sha256.Sum256([]byte(strconv.Itoa(seed) + ":" + text))
	return float64(binary.BigEndian.Uint64(sum[:])>>11) / (1 << 53)
}

// partAt returns the part whose share contains a number. The share of the rest comes
// after all others, wherever the part is listed. So a new part that takes some of the
// rest, listed last before it, moves no other sample. If fractions add up to less than
// 1 by rounding, the last one gets the remainder.
func partAt(parts []part, at float64) int {
	end, after := 0.0, 0
	rest := slices.IndexFunc(parts, func(p part) bool { return p.rest })
	for i, p := range parts {
		if p.rest || p.size == 0 {
			continue
		}
		end += p.size
		if at < end {
			return i
		}
		after = i
	}
	if rest >= 0 {
		return rest
	}
	return after
}

// byValue gives each part its share of each value.
func (s Split) byValue(ctx context.Context, env *component.Env, parts []part, in component.Samples) (component.Data, error) {
	sizes, err := partSizes(parts, in.Len())
	if err != nil {
		return component.Data{}, err
	}
	values, err := scan(ctx, env, "split", s.Stratify, in, groupName)
	if err != nil {
		return component.Data{}, err
	}
	groups, of := numbered(values)
	left := make([]int, groups) // unassigned samples of each value
	for _, g := range of {
		left[g]++
	}
	quotas := make([][]int, len(parts)) // of each part, of each value
	for p, size := range sizes {
		quotas[p] = shares(left, size)
		for g, n := range quotas[p] {
			left[g] -= n
		}
	}
	next := make([]int, groups) // the part of the next sample of each value
	return gather(in, parts, func(i int) int {
		g := of[i]
		for quotas[next[g]][g] == 0 {
			next[g]++
		}
		quotas[next[g]][g]--
		return next[g]
	})
}

// numbered numbers strings in the order of their first occurrence.
func numbered(texts []string) (n int, of []int) {
	number := map[string]int{}
	of = make([]int, len(texts))
	for i, text := range texts {
		g, seen := number[text]
		if !seen {
			g = len(number)
			number[text] = g
		}
		of[i] = g
	}
	return len(number), of
}

// shares divides size among groups in proportion to their numbers. Each gets its exact
// share, rounded down or up, and together they get size. It rounds cumulative sums, so
// that the total of many small groups is right, too.
func shares(groups []int, size int) []int {
	total := 0
	for _, n := range groups {
		total += n
	}
	given := make([]int, len(groups))
	seen, before := 0, 0
	for g, n := range groups {
		seen += n
		upTo := before
		if total > 0 {
			upTo = nearest(seen, size, total)
		}
		given[g] = upTo - before
		before = upTo
	}
	return given
}

// nearest returns a * b / c, rounded to the nearest integer, halves up.
func nearest(a, b, c int) int {
	high, low := bits.Mul64(uint64(a), uint64(b))
	q, r := bits.Div64(high, low, uint64(c)) // a is at most c, so q is at most b
	if r >= uint64(c)-r {
		q++
	}
	return int(q)
}

// gather returns a dataset for each part, of the samples of in for which part returns
// it.
func gather(in component.Samples, parts []part, part func(i int) int) (component.Data, error) {
	indices := make([][]int, len(parts))
	for i := range in.Len() {
		p := part(i)
		indices[p] = append(indices[p], i)
	}
	data := component.Data{Names: names(parts)}
	for p, list := range indices {
		picked, err := pick(in, list)
		if err != nil {
			return component.Data{}, fmt.Errorf("part %s: %w", parts[p].name, err)
		}
		data.Parts = append(data.Parts, picked)
	}
	return data, nil
}
