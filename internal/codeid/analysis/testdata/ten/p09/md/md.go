// Package md converts Markdown to HTML.
package md

import (
	"bufio"
	"fmt"
	"html"
	"regexp"
	"strings"
	"unicode"
)

// A Block is a part of a document.
type Block interface {
	HTML(r *Renderer) string
}

type (
	// Heading is a title.
	Heading struct {
		Level int
		Text  string
	}
	// Paragraph is text.
	Paragraph struct{ Lines []string }
	// Code is a block of code.
	Code struct{ Lang, Text string }
	// List is a list.
	List struct {
		Ordered bool
		Items   []string
	}
	// Quote holds other blocks.
	Quote struct{ Blocks []Block }
	// Rule is a line.
	Rule struct{}
)

var (
	headingRE = regexp.MustCompile(`^(#{1,6})\s+(.*?)\s*#*$`)
	bulletRE  = regexp.MustCompile(`^[-*+]\s+(.*)$`)
	numberRE  = regexp.MustCompile(`^\d+\.\s+(.*)$`)
	ruleRE    = regexp.MustCompile(`^([-*_])(?:\s*[-*_]){2,}$`)
)

// rules replace spans, in order.
var rules = []struct {
	re   *regexp.Regexp
	repl string
}{
	{regexp.MustCompile("`([^`]+)`"), "<code>$1</code>"},
	{regexp.MustCompile(`\*\*([^*]+)\*\*`), "<strong>$1</strong>"},
	{regexp.MustCompile(`\*([^*]+)\*`), "<em>$1</em>"},
	{regexp.MustCompile(`!\[([^\]]*)\]\(([^)]+)\)`), `<img src="$2" alt="$1">`},
	{regexp.MustCompile(`\[([^\]]+)\]\(([^)]+)\)`), `<a href="$2">$1</a>`},
}

// linePatterns start blocks.
type starter struct {
	re   *regexp.Regexp
	make func(m []string) Block
}

var starters = []starter{
	{headingRE, func(m []string) Block { return Heading{len(m[1]), m[2]} }},
	{ruleRE, func([]string) Block { return Rule{} }},
}

var typographer = strings.NewReplacer("...", "…", "--", "–", "(c)", "©")

// Parse reads a document.
func Parse(s string) []Block {
	p := &parser{sc: bufio.NewScanner(strings.NewReader(s))}
	for p.sc.Scan() {
		p.line(strings.TrimRight(p.sc.Text(), " \t"))
	}
	p.flush()
	return p.out
}

type parser struct {
	sc     *bufio.Scanner
	out    []Block
	para   []string
	list   *List
	quoted []string
}

func (p *parser) flush() {
	if len(p.para) > 0 {
		p.out = append(p.out, Paragraph{p.para})
		p.para = nil
	}
	if p.list != nil {
		p.out = append(p.out, *p.list)
		p.list = nil
	}
	if len(p.quoted) > 0 {
		p.out = append(p.out, Quote{Parse(strings.Join(p.quoted, "\n"))})
		p.quoted = nil
	}
}

func (p *parser) line(l string) {
	if q, ok := strings.CutPrefix(l, ">"); ok {
		p.quoted = append(p.quoted, strings.TrimPrefix(q, " "))
		return
	}
	if lang, ok := strings.CutPrefix(l, "```"); ok {
		p.flush()
		p.code(lang)
		return
	}
	if l == "" {
		p.flush()
		return
	}
	for _, s := range starters {
		if m := s.re.FindStringSubmatch(l); m != nil {
			p.flush()
			p.out = append(p.out, s.make(m))
			return
		}
	}
	if m := bulletRE.FindStringSubmatch(l); m != nil {
		p.item(false, m[1])
		return
	}
	if m := numberRE.FindStringSubmatch(l); m != nil {
		p.item(true, m[1])
		return
	}
	p.para = append(p.para, l)
}

func (p *parser) item(ordered bool, s string) {
	if p.list == nil || p.list.Ordered != ordered {
		p.flush()
		p.list = &List{Ordered: ordered}
	}
	p.list.Items = append(p.list.Items, s)
}

func (p *parser) code(lang string) {
	var lines []string
	for p.sc.Scan() && p.sc.Text() != "```" {
		lines = append(lines, p.sc.Text())
	}
	p.out = append(p.out, Code{lang, strings.Join(lines, "\n")})
}

// A Renderer writes HTML.
type Renderer struct {
	IDs       map[string]int
	Highlight func(lang, code string) string
	Smart     bool
}

// An Option changes a Renderer.
type Option func(*Renderer)

// Smart replaces dots and dashes.
func Smart(r *Renderer) { r.Smart = true }

// WithHighlighter marks up code.
func WithHighlighter(f func(lang, code string) string) Option {
	return func(r *Renderer) { r.Highlight = f }
}

// NewRenderer returns a renderer.
func NewRenderer(opts ...Option) *Renderer {
	r := &Renderer{IDs: map[string]int{}, Highlight: func(_, code string) string { return html.EscapeString(code) }}
	for _, o := range opts {
		o(r)
	}
	return r
}

// Render renders blocks.
func (r *Renderer) Render(blocks []Block) string {
	var b strings.Builder
	for _, x := range blocks {
		b.WriteString(x.HTML(r))
		b.WriteByte('\n')
	}
	return b.String()
}

// Inline renders spans.
func (r *Renderer) Inline(s string) string {
	if r.Smart {
		s = typographer.Replace(s)
	}
	s = html.EscapeString(s)
	for _, x := range rules {
		s = x.re.ReplaceAllString(s, x.repl)
	}
	return s
}

// Slug makes an ID of a title.
func Slug(s string) string {
	return strings.Trim(strings.Map(func(r rune) rune {
		switch {
		case unicode.IsLetter(r), unicode.IsDigit(r):
			return unicode.ToLower(r)
		case unicode.IsSpace(r):
			return '-'
		}
		return -1
	}, s), "-")
}

// HTML implements Block.
func (h Heading) HTML(r *Renderer) string {
	id := Slug(h.Text)
	r.IDs[id]++
	if n := r.IDs[id]; n > 1 {
		id = fmt.Sprintf("%s-%d", id, n)
	}
	return fmt.Sprintf("<h%d id=%q>%s</h%[1]d>", h.Level, id, r.Inline(h.Text))
}

// HTML implements Block.
func (p Paragraph) HTML(r *Renderer) string {
	return "<p>" + r.Inline(strings.Join(p.Lines, "\n")) + "</p>"
}

// HTML implements Block.
func (c Code) HTML(r *Renderer) string {
	return fmt.Sprintf("<pre><code class=%q>%s</code></pre>", "language-"+c.Lang, r.Highlight(c.Lang, c.Text))
}

// HTML implements Block.
func (l List) HTML(r *Renderer) string {
	tag := map[bool]string{false: "ul", true: "ol"}[l.Ordered]
	var b strings.Builder
	fmt.Fprintf(&b, "<%s>", tag)
	for _, i := range l.Items {
		fmt.Fprintf(&b, "<li>%s</li>", r.Inline(i))
	}
	fmt.Fprintf(&b, "</%s>", tag)
	return b.String()
}

// HTML implements Block.
func (q Quote) HTML(r *Renderer) string { return "<blockquote>" + r.Render(q.Blocks) + "</blockquote>" }

// HTML implements Block.
func (Rule) HTML(*Renderer) string { return "<hr>" }
