package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"slices"

	"github.com/larder-data/larder/bench/work"
)

// Results holds all figures, with the machine. They are stored in results.json, from
// which the sections can be written again.
type Results struct {
	Machine  Machine            `json:"machine"`
	Versions map[string]string  `json:"versions"`
	Quick    bool               `json:"quick,omitempty"`
	Runs     int                `json:"runs"`
	Rows     map[string]Session `json:"rows"`
	Samples  []Sample           `json:"samples"`
}

// A Session describes the measurement of a row.
type Session struct {
	Date    string  `json:"date"`
	Larder  string  `json:"larder,omitempty"` // its commit
	Load    string  `json:"load"`             // average over 1, 5 and 15 minutes, beforehand
	Seconds float64 `json:"seconds"`
}

// A Sample is one run of one system.
type Sample struct {
	Row        string       `json:"row"`
	Contestant string       `json:"contestant"`
	N          int          `json:"n"`
	Run        int          `json:"run"`
	Figures    work.Figures `json:"figures,omitempty"`
	Error      string       `json:"error,omitempty"`
}

func (r *Results) read(file string) error {
	b, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	return json.Unmarshal(b, r)
}

// write writes one line per sample, for readable diffs.
func (r *Results) write(file string) error {
	samples := r.Samples
	head := *r
	head.Samples = nil
	b, err := json.MarshalIndent(head, "", "  ")
	if err != nil {
		return err
	}
	b = slices.Concat(b[:len(b)-len("null\n}")], []byte("[\n"))
	for i, s := range samples {
		line, err := json.Marshal(s)
		if err != nil {
			return err
		}
		b = slices.Concat(b, []byte("    "), line)
		if i < len(samples)-1 {
			b = append(b, ',')
		}
		b = append(b, '\n')
	}
	return os.WriteFile(file, append(b, "  ]\n}\n"...), 0o666)
}

// replace replaces a row's samples.
func (r *Results) replace(row string, samples []Sample) {
	r.Samples = append(slices.DeleteFunc(r.Samples, func(s Sample) bool { return s.Row == row }), samples...)
}

// A Spread is a figure over all runs.
type Spread struct{ Median, Min, Max float64 }

// of returns a figure of a system at a size; size 0 is any. ok is false if it was not
// measured.
func (r *Results) of(row, contestant string, n int, figure string) (s Spread, ok bool) {
	var all []float64
	for _, s := range r.Samples {
		if s.Row != row || s.Contestant != contestant || n != 0 && s.N != n {
			continue
		}
		if v, ok := s.Figures[figure]; ok {
			all = append(all, v)
		}
	}
	if len(all) == 0 {
		return s, false
	}
	slices.Sort(all)
	return Spread{(all[(len(all)-1)/2] + all[len(all)/2]) / 2, all[0], all[len(all)-1]}, true
}

// failure returns why a system has no figures, or "".
func (r *Results) failure(row, contestant string) string {
	for _, s := range r.Samples {
		if s.Row == row && s.Contestant == contestant && s.Error != "" {
			return s.Error
		}
	}
	return ""
}

// sizes lists the sizes at which a system was measured.
func (r *Results) sizes(row, contestant string) (list []int) {
	for _, s := range r.Samples {
		if s.Row == row && cmp.Or(contestant, s.Contestant) == s.Contestant && !slices.Contains(list, s.N) {
			list = append(list, s.N)
		}
	}
	slices.Sort(list)
	return list
}

// exponent fits y = a x^b by least squares of the logarithms, and returns b.
func exponent(x, y []float64) float64 {
	var sx, sy, sxx, sxy float64
	n := float64(len(x))
	for i := range x {
		lx, ly := math.Log(x[i]), math.Log(y[i])
		sx, sy, sxx, sxy = sx+lx, sy+ly, sxx+lx*lx, sxy+lx*ly
	}
	return (n*sxy - sx*sy) / (n*sxx - sx*sx)
}

// power formats an exponent.
func power(b float64) string {
	if math.Abs(b) < 0.005 {
		b = 0 // and not -0.00
	}
	return fmt.Sprintf("%.2f", b)
}
