// Package table reads and aggregates tables of records.
package table

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strconv"
	"strings"
	"time"

	"programs/p08/copied/csv"
)

// Config says what a report has, as read from JSON.
type Config struct {
	Title   string            `json:"title"`
	GroupBy string            `json:"group_by"`
	Columns []Column          `json:"columns"`
	Rename  map[string]string `json:"rename,omitempty"`
	Comma   string            `json:"comma,omitempty"`
	Top     int               `json:"top"`
}

// A Column is aggregated.
type Column struct {
	Name string `json:"name"`
	Agg  string `json:"agg"`
	Unit Unit   `json:"unit"`
}

// A Unit formats numbers.
type Unit int

// Units.
const (
	Plain Unit = iota
	Euro
	Percent
)

var unitNames = [...]string{"plain", "euro", "percent"}

func (u Unit) String() string { return unitNames[u] }

// MarshalText implements encoding.TextMarshaler.
func (u Unit) MarshalText() ([]byte, error) { return []byte(u.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (u *Unit) UnmarshalText(b []byte) error {
	i := slices.Index(unitNames[:], string(b))
	if i < 0 {
		return fmt.Errorf("table: no unit %q", b)
	}
	*u = Unit(i)
	return nil
}

// Format formats a number.
func (u Unit) Format(v float64) string {
	switch u {
	case Euro:
		return fmt.Sprintf("%.2f €", v)
	case Percent:
		return fmt.Sprintf("%.1f%%", v*100)
	}
	return strconv.FormatFloat(v, 'g', 6, 64)
}

// ParseConfig reads a config.
func ParseConfig(s string) (Config, error) {
	var c Config
	d := json.NewDecoder(strings.NewReader(s))
	d.DisallowUnknownFields()
	if err := d.Decode(&c); err != nil {
		return c, fmt.Errorf("config: %w", err)
	}
	if c.GroupBy == "" {
		return c, errNoGroup
	}
	return c, nil
}

var errNoGroup = errors.New("config: group_by is missing")

// A Table is records with a header.
type Table struct {
	Header []string
	Rows   [][]string
}

// Read reads CSV.
func Read(s string, c Config) (*Table, error) {
	r := csv.NewReader(strings.NewReader(s))
	r.TrimLeadingSpace = true
	if c.Comma != "" {
		r.Comma = []rune(c.Comma)[0]
	}
	t := &Table{}
	for {
		rec, err := r.Read()
		if errors.Is(err, io.EOF) {
			return t, nil
		}
		if err != nil {
			return nil, err
		}
		if t.Header == nil {
			t.Header = rec
			continue
		}
		t.Rows = append(t.Rows, rec)
	}
}

// Column yields the cells of a column.
func (t *Table) Column(name string) (iter.Seq2[int, string], error) {
	j := slices.Index(t.Header, name)
	if j < 0 {
		return nil, fmt.Errorf("table: no column %q in %s", name, strings.Join(t.Header, ", "))
	}
	return func(yield func(int, string) bool) {
		for i, r := range t.Rows {
			if !yield(i, r[j]) {
				return
			}
		}
	}, nil
}

// An Aggregate folds numbers.
type Aggregate interface {
	Add(float64)
	Value() float64
}

type (
	sum   struct{ v float64 }
	count struct{ n int }
	mean  struct {
		sum
		count
	}
	extreme struct {
		v    float64
		sign float64
		any  bool
	}
)

func (s *sum) Add(v float64)    { s.v += v }
func (s *sum) Value() float64   { return s.v }
func (c *count) Add(float64)    { c.n++ }
func (c *count) Value() float64 { return float64(c.n) }
func (m *mean) Add(v float64)   { m.sum.Add(v); m.count.Add(v) }
func (m *mean) Value() float64  { return m.v / float64(m.n) }
func (e *extreme) Add(v float64) {
	if !e.any || v*e.sign > e.v*e.sign {
		e.v, e.any = v, true
	}
}
func (e *extreme) Value() float64 { return e.v }

var aggregates = map[string]func() Aggregate{
	"sum":   func() Aggregate { return new(sum) },
	"count": func() Aggregate { return new(count) },
	"mean":  func() Aggregate { return new(mean) },
	"max":   func() Aggregate { return &extreme{sign: 1} },
	"min":   func() Aggregate { return &extreme{sign: -1} },
}

// A Group is a row of a report.
type Group struct {
	Key    string
	Values []float64
}

// Aggregated makes groups.
func Aggregated(t *Table, c Config) ([]Group, error) {
	keys, err := t.Column(c.GroupBy)
	if err != nil {
		return nil, err
	}
	byKey := map[string][]Aggregate{}
	keyOf := make([]string, len(t.Rows))
	for i, k := range keys {
		if n, ok := c.Rename[k]; ok {
			k = n
		}
		keyOf[i] = k
		if byKey[k] != nil {
			continue
		}
		for _, col := range c.Columns {
			mk, ok := aggregates[col.Agg]
			if !ok {
				return nil, fmt.Errorf("table: no aggregate %q", col.Agg)
			}
			byKey[k] = append(byKey[k], mk())
		}
	}
	for j, col := range c.Columns {
		cells, err := t.Column(col.Name)
		if err != nil {
			return nil, err
		}
		for i, s := range cells {
			v, err := strconv.ParseFloat(s, 64)
			if err != nil {
				return nil, fmt.Errorf("row %d: %w", i+2, err)
			}
			byKey[keyOf[i]][j].Add(v)
		}
	}
	var out []Group
	for k, as := range byKey {
		g := Group{Key: k}
		for _, a := range as {
			g.Values = append(g.Values, a.Value())
		}
		out = append(out, g)
	}
	slices.SortFunc(out, func(a, b Group) int {
		return cmp.Or(-cmp.Compare(a.Values[0], b.Values[0]), strings.Compare(a.Key, b.Key))
	})
	if c.Top > 0 && len(out) > c.Top {
		out = out[:c.Top]
	}
	return out, nil
}

// layouts of dates.
var layouts = []string{time.DateOnly, "02.01.2006", "Jan 2 2006"}

// Month is the month of a date.
func Month(s string) (string, error) {
	for _, l := range layouts {
		if t, err := time.Parse(l, s); err == nil {
			return t.Format("2006-01"), nil
		}
	}
	return "", fmt.Errorf("table: %q is no date", s)
}
