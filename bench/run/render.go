package main

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// render writes the document and its charts into a folder, and the short table
// into the README beside that.
func render(dir string, r Results) error {
	var b bytes.Buffer
	head(&b, r)
	for _, row := range rows {
		if len(r.sizes(row.Name, "")) == 0 {
			continue
		}
		session := r.Rows[row.Name]
		fmt.Fprintf(&b, "\n## %s\n\n%s\n\nMeasured on %s%s, in %s; load before (1, 5, 15 minutes): %s.\n\n", row.Title, row.Work, session.Date, of(session.Larder), span(session.Seconds), session.Load)
		if row.Sizes != nil {
			growth(&b, r, row)
		} else {
			table(&b, r, row)
		}
		better(&b, r, row)
		chart := "bench-" + row.Name + ".svg"
		fmt.Fprintf(&b, "\n![%s](%s)\n", row.Title, chart)
		if err := os.WriteFile(filepath.Join(dir, chart), draw(r, row), 0o666); err != nil {
			return err
		}
	}
	if err := renderEdits(&b, "edits.json"); err != nil {
		return err
	}
	err := os.WriteFile(filepath.Join(dir, "benchmarks.md"), b.Bytes(), 0o666)
	if err != nil || r.Quick {
		return err
	}
	return summarize(filepath.Join(dir, "..", "README.md"), r)
}

func head(b *bytes.Buffer, r Results) {
	m := r.Machine
	total := 0.0
	for _, s := range r.Rows {
		total += s.Seconds
	}
	fmt.Fprintf(b, `# Benchmarks

<!-- Written by make bench (bench/run). Do not edit: change bench/run/rows.go and run it again, or cd bench && go run ./run --render-only. -->

Larder beside other software on the same work. Each figure is the median of %d runs, with the least and the greatest in brackets; the contestants of a table take turns, one run each, each run in a new process and a new folder, and what was written before is flushed first.
`+"`make bench`"+` measures all of it again, in %s here, and writes this page and its charts from `+"`bench/results.json`"+`.

| | |
| --- | --- |
| Processor | %s, %d processors |
| Memory | %s |
| System | %s |
| Temporary files on | %s |
| Go | %s |
| Python | %s |

Each table says how loaded the machine was beforehand, which is the work of the table before where nobody else was at work.

The time of a process's start and of its imports is never included, but for the command `+"`larder run`"+`. The page cache is warm throughout. Where software in Python is measured, part of the difference is the language: read those rows as what a program in that language pays.
PyTorch's DataLoader keeps no results, so no row is about it.

Versions: %s.
`, r.Runs, span(total), m.CPU, m.Processors, m.Memory, m.OS, m.FileSystem, m.Go, r.Versions["Python"], versionList(r.Versions))
}

// of names the commit of Larder, if it is known.
func of(commit string) string {
	if commit == "" {
		return ""
	}
	return " of Larder " + commit
}

// span writes minutes where there are some.
func span(seconds float64) string {
	if seconds < 120 {
		return fmt.Sprintf("%.0f seconds", seconds)
	}
	return fmt.Sprintf("%.0f minutes", seconds/60)
}

func versionList(v map[string]string) string {
	var list []string
	for _, name := range slices.Sorted(maps.Keys(v)) {
		if name != "Python" && name != "Larder" {
			list = append(list, strings.TrimPrefix(name, "github.com/")+" "+v[name])
		}
	}
	return strings.Join(list, ", ")
}

func heading(b *bytes.Buffer, first string, columns []Column) {
	fmt.Fprintf(b, "| %s |", first)
	for _, c := range columns {
		fmt.Fprintf(b, " %s |", c.Title)
	}
	fmt.Fprintf(b, "\n| --- |%s\n", strings.Repeat(" ---: |", len(columns)))
}

// table writes one line for each contestant, and why where one was not run.
func table(b *bytes.Buffer, r Results, row Row) {
	heading(b, "", row.Columns)
	for _, c := range row.Contestants {
		name := c.Name
		if c.Name == row.Main {
			name = "**" + name + "**"
		}
		failure := cmp.Or(c.Not, r.failure(row.Name, c.Name))
		if failure != "" {
			fmt.Fprintf(b, "| %s | not run: %s |%s\n", name, strings.ReplaceAll(failure, "|", "\\|"), strings.Repeat(" |", len(row.Columns)-1))
			continue
		}
		fmt.Fprintf(b, "| %s |", name)
		for _, col := range row.Columns {
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
	middle := col.Kind.write(s.Median)
	if least, most := col.Kind.write(s.Min), col.Kind.write(s.Max); least != middle || most != middle {
		return fmt.Sprintf("%s (%s to %s)", middle, least, most)
	}
	return middle
}

// better lists where others are better than Larder, in rows of growth at the
// largest size that they were measured at.
func better(b *bytes.Buffer, r Results, row Row) {
	var list []string
	for _, c := range row.Contestants {
		if strings.HasPrefix(strings.ToLower(c.Name), "larder") || c.N > 0 {
			continue
		}
		var in, why []string
		n, at := 0, ""
		if sizes := r.sizes(row.Name, c.Name); row.Sizes != nil && len(sizes) > 0 {
			n = sizes[len(sizes)-1]
			at = ", at " + grouped(n)
		}
		for _, col := range row.Columns {
			ours, ok := r.of(row.Name, row.Main, n, col.Figure)
			theirs, measured := r.of(row.Name, c.Name, n, col.Figure)
			if !ok || !measured || !ahead(theirs.Median, ours.Median, col.More) {
				continue
			}
			if s := cmp.Or(row.Why[c.Name+": "+col.Title], row.Why["all: "+col.Title], row.Why[c.Name]); s != "" && !slices.Contains(why, s) {
				why = append(why, s)
			}
			in = append(in, fmt.Sprintf("%s (%s, Larder %s)", col.Title, col.Kind.write(theirs.Median), col.Kind.write(ours.Median)))
		}
		if len(in) == 0 {
			continue
		}
		line := fmt.Sprintf("- %s%s: %s", c.Name, at, strings.Join(in, ", "))
		if len(why) > 0 {
			line += ". Why: " + strings.Join(why, ". And ")
		}
		list = append(list, line+".")
	}
	if len(list) > 0 {
		fmt.Fprintf(b, "\nBetter than %s by more than 5 %%:\n\n%s\n", row.Main, strings.Join(list, "\n"))
	}
}

// ahead reports whether one figure is better than another by more than 5 %.
func ahead(a, b float64, more bool) bool {
	if more {
		return a > b*1.05
	}
	return a < b*0.95
}

// growth writes one line for each contestant and size, and how each figure grows.
func growth(b *bytes.Buffer, r Results, row Row) {
	heading(b, "| how many", row.Columns)
	for _, c := range row.Contestants {
		if failure := cmp.Or(c.Not, r.failure(row.Name, c.Name)); failure != "" {
			fmt.Fprintf(b, "| %s | not run: %s |\n", c.Name, failure)
		}
		sizes := r.sizes(row.Name, c.Name)
		for _, n := range sizes {
			fmt.Fprintf(b, "| %s | %s |", c.Name, grouped(n))
			for _, col := range row.Columns {
				fmt.Fprintf(b, " %s |", figure(r, row, c.Name, n, col))
			}
			fmt.Fprintln(b)
		}
		if len(sizes) < 3 {
			continue
		}
		fmt.Fprintf(b, "| %s | exponent |", c.Name)
		for _, col := range row.Columns {
			fmt.Fprintf(b, " %s |", exponentOf(r, row, c.Name, col))
		}
		fmt.Fprintln(b)
	}
	fmt.Fprintf(b, "\nThe exponent is b where the figure grows as n^b: the slope of a straight line through the logarithms, by least squares over all sizes.\n")
}

func exponentOf(r Results, row Row, contestant string, col Column) string {
	x, y := points(r, row, contestant, col)
	if len(x) < 3 {
		return "."
	}
	return power(exponent(x, y))
}

// points are the medians of a figure over the sizes.
func points(r Results, row Row, contestant string, col Column) (x, y []float64) {
	for _, n := range r.sizes(row.Name, contestant) {
		if s, ok := r.of(row.Name, contestant, n, col.Figure); ok && s.Median > 0 {
			x, y = append(x, float64(n)), append(y, s.Median)
		}
	}
	return x, y
}

// write writes a figure with its unit, to three digits.
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

// grouped writes thousands apart.
func grouped(n int) string {
	if n < 0 {
		return "-" + grouped(-n)
	}
	if n < 1000 {
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%s %03d", grouped(n/1000), n%1000)
}
