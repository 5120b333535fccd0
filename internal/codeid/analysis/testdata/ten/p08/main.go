// Command p08 makes reports of tables.
package main

import (
	"bytes"
	"context"

	"github.com/larder-data/larder/lazy"

	"programs/p08/render"
	"programs/p08/table"
	"programs/report"
)

var (
	config = lazy.Func1("config", func(_ context.Context, s string) (table.Config, error) { return table.ParseConfig(s) })
	read   = lazy.Func2("read", func(_ context.Context, s string, c table.Config) (*table.Table, error) { return table.Read(s, c) })
	groups = lazy.Func2("groups", func(_ context.Context, t *table.Table, c table.Config) ([]table.Group, error) {
		return table.Aggregated(t, c)
	})
	column = lazy.Func2("column", func(_ context.Context, t *table.Table, name string) ([]string, error) {
		seq, err := t.Column(name)
		if err != nil {
			return nil, err
		}
		var out []string
		for _, s := range seq {
			out = append(out, s)
		}
		return out, nil
	})
	month  = lazy.Func1("month", func(_ context.Context, s string) (string, error) { return table.Month(s) })
	format = lazy.Lift2("format", table.Unit.Format)
	form   = lazy.Func3("render", func(_ context.Context, form string, c table.Config, g []table.Group) (string, error) {
		return render.Render(form, render.Report{Config: c, Groups: g})
	})
	text = lazy.Func2("text", func(_ context.Context, c table.Config, g []table.Group) (string, error) {
		var b bytes.Buffer
		err := render.Text{Padding: 3}.Render(&b, render.Report{Config: c, Groups: g})
		return b.String(), err
	})
	markdown = lazy.Func2("markdown", func(_ context.Context, c table.Config, g []table.Group) (string, error) {
		return render.Markdown(render.Report{Config: c, Groups: g})
	})
	best = lazy.Func1("best", func(_ context.Context, g []table.Group) (string, error) { return g[0].Key, nil })
)

const (
	settings = `{"title": "sales", "group_by": "shop", "top": 3, "rename": {"x": "Xanten"},
	"columns": [{"name": "sum", "agg": "sum", "unit": "euro"}, {"name": "sum", "agg": "mean", "unit": "plain"}]}`
	sales = "shop,date,sum\nx,2024-01-02,3.5\nBonn,2024-01-03,4\nx,2024-02-01,10\n\"Bad, Ems\",2024-02-02,1\n"
)

func main() {
	r := report.Open()
	defer r.Close()
	c := config(lazy.Of(settings))
	t := read(lazy.Of(sales), c)
	g := groups(t, c)
	report.Show(r, "config", c)
	report.Show(r, "read", t)
	report.Show(r, "groups", g)
	report.Show(r, "column", column(t, lazy.Of("shop")))
	report.Show(r, "month", month(lazy.Of("03.04.2024")))
	report.Show(r, "format", format(lazy.Of(table.Euro), lazy.Of(1.5)))
	report.Show(r, "render", form(lazy.Of("json"), c, g))
	report.Show(r, "text", text(c, g))
	report.Show(r, "markdown", markdown(c, g))
	report.Show(r, "best", best(g))
	report.Own1(r, "config", config)
	report.Own2(r, "read", read)
	report.Own2(r, "groups", groups)
	report.Own2(r, "column", column)
	report.Own1(r, "month", month)
	report.Own2(r, "format", format)
	report.Own3(r, "render", form)
	report.Own2(r, "text", text)
	report.Own2(r, "markdown", markdown)
	report.Own1(r, "best", best)
}
