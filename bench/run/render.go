package main

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// The pages that have figures, by their paths in the clone.
const (
	document = "docs/benchmarks.md"
	readme   = "README.md"
	results  = "bench/results.json"
)

// render writes the sections of the pages and the charts into a directory with the
// layout of the clone.
func render(root string, r Results) error {
	if err := os.MkdirAll(filepath.Join(root, "docs"), 0o777); err != nil {
		return err
	}
	for _, row := range rows {
		if len(r.sizes(row.Name, "")) == 0 {
			continue
		}
		if err := os.WriteFile(filepath.Join(root, "docs", chart(row)), draw(r, row), 0o666); err != nil {
			return err
		}
	}
	edits, err := edits("edits.json")
	if err != nil {
		return err
	}
	if err := rewrite(root, document, map[string]string{results: sections(r), "bench/edits.json": edits}); err != nil {
		return err
	}
	return rewrite(root, readme, map[string]string{results: summary(r)})
}

// rewrite writes a page of the clone into a directory. It replaces the text between the
// markers of each source; the rest is written by hand.
func rewrite(root, page string, texts map[string]string) error {
	b, err := os.ReadFile(filepath.Join("..", page))
	if err != nil {
		return err
	}
	all := string(b)
	for source, text := range texts {
		begin, end := "<!-- begin "+source+" -->\n", "<!-- end "+source+" -->\n"
		before, rest, ok := strings.Cut(all, begin)
		_, after, ended := strings.Cut(rest, end)
		if !ok || !ended {
			return fmt.Errorf("%s: has no markers of %s; add them", page, source)
		}
		all = before + begin + "\n" + text + "\n" + end + after
	}
	return os.WriteFile(filepath.Join(root, page), []byte(all), 0o666)
}

// sections returns the results for the page: when and on which machine they were
// measured, and for each row a table and a chart.
func sections(r Results) string {
	var b bytes.Buffer
	var dates []string
	for _, session := range r.Rows {
		day, _, _ := strings.Cut(session.Date, " ")
		dates = append(dates, day)
	}
	slices.Sort(dates)
	m := r.Machine
	fmt.Fprintf(&b, "Measured on %s: %s, %d processors, %s, %s, %s. Figures are medians of %d runs.\n\nVersions: %s.\n",
		strings.Join(slices.Compact(dates), ", "), m.CPU, m.Processors, m.Memory, m.FileSystem, m.Go, r.Runs, versionList(r.Versions))
	for _, row := range rows {
		if len(r.sizes(row.Name, "")) == 0 {
			continue
		}
		fmt.Fprintf(&b, "\n### %s\n\n%s\n\n", row.Title, row.Work)
		if row.Sizes != nil {
			growth(&b, r, row)
		} else {
			table(&b, r, row)
		}
		if left := unmeasured(r, row); left != "" {
			fmt.Fprintf(&b, "\nNot measured: %s.\n", left)
		}
		if row.Note != "" {
			fmt.Fprintf(&b, "\n%s\n", row.Note)
		}
		fmt.Fprintf(&b, "\n![%s](%s)\n", row.Title, chart(row))
	}
	return b.String()
}

func chart(row Row) string { return "bench-" + row.Name + ".svg" }

// versionList names modules by the last significant part of their paths.
func versionList(v map[string]string) string {
	var list []string
	for name, version := range v {
		if dir, last := path.Split(name); len(last) == 2 && last[0] == 'v' {
			name = dir
		}
		list = append(list, path.Base(name)+" "+strings.TrimPrefix(version, "v"))
	}
	slices.SortFunc(list, func(a, b string) int { return cmp.Compare(strings.ToLower(a), strings.ToLower(b)) })
	return strings.Join(list, ", ")
}

// shown returns the columns of the table.
func (r Row) shown() []Column {
	return slices.DeleteFunc(slices.Clone(r.Columns), func(c Column) bool { return c.Hidden })
}

func heading(b *bytes.Buffer, first string, columns []Column) {
	fmt.Fprintf(b, "| %s |", first)
	for _, c := range columns {
		fmt.Fprintf(b, " %s |", c.Title)
	}
	fmt.Fprintf(b, "\n| --- |%s\n", strings.Repeat(" ---: |", strings.Count(first, "|")+len(columns)))
}

// table writes one line for each measured system.
func table(b *bytes.Buffer, r Results, row Row) {
	heading(b, "", row.shown())
	for _, c := range row.Contestants {
		if r.why(row, c) != "" {
			continue
		}
		name := c.Name
		if c.Name == row.Main {
			name = "**" + name + "**"
		}
		fmt.Fprintf(b, "| %s |", name)
		for _, col := range row.shown() {
			fmt.Fprintf(b, " %s |", figure(r, row, c.Name, 0, col))
		}
		fmt.Fprintln(b)
	}
}

func figure(r Results, row Row, contestant string, n int, col Column) string {
	s, ok := r.of(row.Name, contestant, n, col.Figure)
	if !ok {
		return "."
	}
	return col.Kind.write(s.Median)
}

// unmeasured lists the systems without figures, and the reasons.
func unmeasured(r Results, row Row) string {
	var list []string
	for _, c := range row.Contestants {
		if why := r.why(row, c); why != "" {
			list = append(list, fmt.Sprintf("%s (%s)", c.Name, why))
		}
	}
	return strings.Join(list, "; ")
}

// why returns the reason why a system has no figures: of an error, the part before the
// colon.
func (r *Results) why(row Row, c Contestant) string {
	failed, _, _ := strings.Cut(r.failure(row.Name, c.Name), ":")
	return cmp.Or(c.Not, failed)
}

// growth writes one line for each system and size, and the growth of each figure.
func growth(b *bytes.Buffer, r Results, row Row) {
	heading(b, " | how many", row.shown())
	for _, c := range row.Contestants {
		sizes := r.sizes(row.Name, c.Name)
		for _, n := range sizes {
			if n < row.Least && !r.Quick {
				continue
			}
			fmt.Fprintf(b, "| %s | %s |", c.Name, grouped(n))
			for _, col := range row.shown() {
				fmt.Fprintf(b, " %s |", figure(r, row, c.Name, n, col))
			}
			fmt.Fprintln(b)
		}
		if len(sizes) < 3 {
			continue
		}
		fmt.Fprintf(b, "| %s | exponent |", c.Name)
		for _, col := range row.shown() {
			fmt.Fprintf(b, " %s |", exponentOf(r, row, c.Name, col))
		}
		fmt.Fprintln(b)
	}
}

func exponentOf(r Results, row Row, contestant string, col Column) string {
	x, y := points(r, row, contestant, col)
	if len(x) < 3 {
		return "."
	}
	return power(exponent(x, y))
}

// points returns the medians of a figure over the sizes.
func points(r Results, row Row, contestant string, col Column) (x, y []float64) {
	for _, n := range r.sizes(row.Name, contestant) {
		if s, ok := r.of(row.Name, contestant, n, col.Figure); ok && s.Median > 0 {
			x, y = append(x, float64(n)), append(y, s.Median)
		}
	}
	return x, y
}

// write formats a figure with its unit, to three digits.
func (k Kind) write(v float64) string {
	switch k {
	case Bytes:
		return scaled(v, 1024, "B", "KiB", "MiB", "GiB")
	case Count:
		return grouped(int(math.Round(v)))
	case Part:
		return fmt.Sprintf("%.1f %%", 100*v)
	default:
		return scaled(v*1e9, 1000, "ns", "µs", "ms", "s")
	}
}

func scaled(v, step float64, units ...string) string {
	i := 0
	for ; math.Abs(v) >= 0.9995*step && i < len(units)-1; i++ {
		v /= step
	}
	digits := 2 - int(math.Floor(math.Log10(max(math.Abs(v), 1))))
	if v == 0 || units[i] == "B" {
		digits = 0
	}
	return fmt.Sprintf("%.*f %s", max(digits, 0), v, units[i])
}

// grouped separates thousands.
func grouped(n int) string {
	if n < 0 {
		return "-" + grouped(-n)
	}
	if n < 1000 {
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%s %03d", grouped(n/1000), n%1000)
}
