// Command p09 converts Markdown.
package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/larder-data/larder/lazy"

	"programs/p09/md"
	"programs/p09/site"
	"programs/report"
)

var (
	convert = lazy.Func1("convert", func(_ context.Context, s string) (string, error) {
		return md.NewRenderer().Render(md.Parse(s)), nil
	})
	smart = lazy.Func1("smart", func(_ context.Context, s string) (string, error) {
		return md.NewRenderer(md.Smart).Render(md.Parse(s)), nil
	})
	inline = lazy.Func1("inline", func(_ context.Context, s string) (string, error) { return (&md.Renderer{}).Inline(s), nil })
	slug   = lazy.Lift1("slug", md.Slug)
	blocks = lazy.Func1("blocks", func(_ context.Context, s string) ([]string, error) {
		var out []string
		for _, b := range md.Parse(s) {
			out = append(out, strings.TrimPrefix(fmt.Sprintf("%T", b), "md."))
		}
		return out, nil
	})
	page      = lazy.Func1("page", func(_ context.Context, s string) (site.Page, error) { return site.ParsePage(s) })
	render    = lazy.Func1("render", func(_ context.Context, p site.Page) (string, error) { return site.Render(p) })
	highlight = lazy.Lift2("highlight", site.Highlight)
	contents  = lazy.Lift1("contents", site.Contents)
	toc       = lazy.Lift1("toc", site.TOC.String)
	words     = lazy.Func1("words", func(_ context.Context, p site.Page) (int, error) { return len(strings.Fields(p.Body)), nil })
)

const document = "---\ntitle: A page\ntags: a, b\n---\n# One & two #\n\nSome *text* with `code` -- and\na [link](http://x).\n\n" +
	"- a\n- **b**\n\n1. x\n2. y\n\n> quoted\n> # Head\n\n```go\nfunc f() { return }\n```\n---\n## One & two\nEnd...\n"

func main() {
	r := report.Open()
	defer r.Close()
	p := page(lazy.Of(document))
	report.Show(r, "convert", convert(lazy.Of(document)))
	report.Show(r, "smart", smart(lazy.Of(document)))
	report.Show(r, "inline", inline(lazy.Of("a **b** ![c](d)")))
	report.Show(r, "slug", slug(lazy.Of("Hello, World")))
	report.Show(r, "blocks", blocks(lazy.Of(document)))
	report.Show(r, "page", p)
	report.Show(r, "render", render(p))
	report.Show(r, "highlight", highlight(lazy.Of("go"), lazy.Of("if a < b { return }")))
	report.Show(r, "contents", contents(lazy.Of(document)))
	report.Show(r, "toc", toc(contents(lazy.Of(document))))
	report.Show(r, "words", words(p))
	report.Own1(r, "convert", convert)
	report.Own1(r, "smart", smart)
	report.Own1(r, "inline", inline)
	report.Own1(r, "slug", slug)
	report.Own1(r, "blocks", blocks)
	report.Own1(r, "page", page)
	report.Own1(r, "render", render)
	report.Own2(r, "highlight", highlight)
	report.Own1(r, "contents", contents)
	report.Own1(r, "toc", toc)
	report.Own1(r, "words", words)
}
