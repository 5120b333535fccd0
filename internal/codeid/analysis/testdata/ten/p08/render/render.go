// Package render writes reports.
package render

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/template"

	"programs/p08/copied/csv"
	"programs/p08/copied/tabwriter"
	"programs/p08/table"
)

// A Report is what is written.
type Report struct {
	Config table.Config
	Groups []table.Group
}

// A Renderer writes a report in some form.
type Renderer interface {
	Render(w io.Writer, r Report) error
}

// RendererFunc is a function as a Renderer.
type RendererFunc func(io.Writer, Report) error

// Render implements Renderer.
func (f RendererFunc) Render(w io.Writer, r Report) error { return f(w, r) }

var renderers = map[string]Renderer{
	"text":     Text{Padding: 2},
	"csv":      RendererFunc(writeCSV),
	"json":     RendererFunc(writeJSON),
	"markdown": RendererFunc(writeMarkdown),
}

var funcs = template.FuncMap{
	"upper":  strings.ToUpper,
	"format": func(u table.Unit, v float64) string { return u.Format(v) },
	"join":   func(sep string, l []string) string { return strings.Join(l, sep) },
}

var markdown = template.Must(template.New("markdown").Funcs(funcs).Parse(`# {{.Config.Title | upper}}
| {{.Config.GroupBy}} |{{range .Config.Columns}} {{.Name}} |{{end}}
{{- range $g := .Groups}}
| {{.Key}} |{{range $i, $v := .Values}} {{format (index $.Config.Columns $i).Unit $v}} |{{end}}
{{- end}}
`))

// Text is a table for people.
type Text struct{ Padding int }

// Render implements Renderer.
func (t Text) Render(w io.Writer, r Report) error {
	tw := tabwriter.NewWriter(w, 0, 8, t.Padding, ' ', tabwriter.AlignRight)
	fmt.Fprintf(tw, "%s\t", r.Config.GroupBy)
	for _, c := range r.Config.Columns {
		fmt.Fprintf(tw, "%s(%s)\t", c.Agg, c.Name)
	}
	fmt.Fprintln(tw)
	for _, g := range r.Groups {
		fmt.Fprintf(tw, "%s\t", g.Key)
		for i, v := range g.Values {
			fmt.Fprintf(tw, "%s\t", r.Config.Columns[i].Unit.Format(v))
		}
		fmt.Fprintln(tw)
	}
	return tw.Flush()
}

func writeCSV(w io.Writer, r Report) error {
	cw := csv.NewWriter(w)
	for _, g := range r.Groups {
		rec := []string{g.Key}
		for _, v := range g.Values {
			rec = append(rec, fmt.Sprint(v))
		}
		if err := cw.Write(rec); err != nil {
			return err
		}
	}
	cw.Flush()
	return cw.Error()
}

func writeJSON(w io.Writer, r Report) error {
	e := json.NewEncoder(w)
	e.SetIndent("", " ")
	return e.Encode(r)
}

func writeMarkdown(w io.Writer, r Report) error { return markdown.Execute(w, r) }

// Render renders in a form.
func Render(form string, r Report) (string, error) {
	x, ok := renderers[form]
	if !ok {
		return "", fmt.Errorf("render: no form %q", form)
	}
	var b bytes.Buffer
	err := x.Render(&b, r)
	return b.String(), err
}

// Markdown renders as Markdown.
func Markdown(r Report) (string, error) {
	var b strings.Builder
	err := writeMarkdown(&b, r)
	return b.String(), err
}
