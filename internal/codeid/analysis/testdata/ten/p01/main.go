// Command p01 searches a small corpus.
package main

import (
	"context"
	"maps"
	"slices"

	"github.com/larder-data/larder/lazy"

	"programs/p01/index"
	"programs/p01/query"
	"programs/p01/text"
	"programs/report"
)

var corpus = []index.Document{
	{ID: "fox", Title: "The fox", Body: "The quick brown fox <b>jumps</b> over the lazy dog."},
	{ID: "dog", Title: "A dog's house", Body: "Dogs are sleeping in the dog house; 3 dogs, 1 house."},
	{ID: "bird", Title: "Birds", Body: "Birds fly quickly over houses and foxes."},
	{ID: "cat", Title: "Organization of cats", Body: "Cats sleep. Lazily, cats were sleeping in 2 houses."},
}

// A Stats describes an index.
type Stats struct {
	Docs, Terms int
	Longest     string
	Average     float64
}

var (
	documents = lazy.Func0("documents", func(context.Context) ([]index.Document, error) { return slices.Clone(corpus), nil })
	clean     = lazy.Lift1("clean", text.Clean)
	stem      = lazy.Lift1("stem", text.Stem)
	terms     = lazy.Func2("terms", func(_ context.Context, s string, o index.Options) ([]string, error) {
		var out []string
		for _, t := range o.Tokenizer().Terms(s) {
			out = append(out, t)
		}
		return out, nil
	})
	build = lazy.Func2("build", func(_ context.Context, docs []index.Document, o index.Options) (*index.Index, error) {
		return index.Build(docs, o)
	})
	stats = lazy.Func1("stats", func(_ context.Context, ix *index.Index) (Stats, error) {
		s := Stats{Docs: len(ix.Docs), Terms: len(ix.Postings), Average: ix.Average}
		for _, t := range slices.Sorted(maps.Keys(ix.Postings)) {
			if len(t) > len(s.Longest) {
				s.Longest = t
			}
		}
		return s, nil
	})
	parse = lazy.Func2("parse", func(_ context.Context, s string, o index.Options) (string, error) {
		q, err := query.Parse(s, o.Tokenizer())
		if err != nil {
			return "", err
		}
		return q.String(), nil
	})
	search = lazy.Func4("search", func(_ context.Context, ix *index.Index, s string, o index.Options, k int) ([]index.Hit, error) {
		q, err := query.Parse(s, o.Tokenizer())
		if err != nil {
			return nil, err
		}
		return q.Run(ix, index.BM25{K1: 1.2, B: 0.75}, k), nil
	})
	simple = lazy.Func3("simple", func(_ context.Context, ix *index.Index, s string, o index.Options) ([]index.Hit, error) {
		q, err := query.Parse(s, o.Tokenizer())
		if err != nil {
			return nil, err
		}
		var scorer index.Scorer = index.TFIDF{}
		return q.Run(ix, scorer, 10), nil
	})
	substring = lazy.Lift2("substring", query.Substring)
	idf       = lazy.Func1("vocabulary", func(_ context.Context, ix *index.Index) (map[string]int, error) {
		out := map[string]int{}
		for t, p := range ix.Postings {
			out[t] = len(p)
		}
		return out, nil
	})
)

func main() {
	r := report.Open()
	defer r.Close()
	o := lazy.Of(index.Options{Stem: true, TitleBoost: 2})
	docs := documents()
	ix := build(docs, o)
	report.Show(r, "documents", docs)
	report.Show(r, "clean", clean(lazy.Of("<p>Hello,  <i>world</i>")))
	report.Show(r, "stem", stem(lazy.Of("organization")))
	report.Show(r, "terms", terms(lazy.Of("The dogs' houses, 3 of them"), o))
	report.Show(r, "build", ix)
	report.Show(r, "stats", stats(ix))
	report.Show(r, "parse", parse(lazy.Of(`lazy "dog house" -cats`), o))
	report.Show(r, "search", search(ix, lazy.Of(`sleeping dogs -fox`), o, lazy.Of(3)))
	report.Show(r, "simple", simple(ix, lazy.Of(`house`), o))
	report.Show(r, "substring", substring(docs, lazy.Of("house")))
	report.Show(r, "vocabulary", idf(ix))
	report.Own0(r, "documents", documents)
	report.Own1(r, "clean", clean)
	report.Own1(r, "stem", stem)
	report.Own2(r, "terms", terms)
	report.Own2(r, "build", build)
	report.Own1(r, "stats", stats)
	report.Own2(r, "parse", parse)
	report.Own4(r, "search", search)
	report.Own3(r, "simple", simple)
	report.Own2(r, "substring", substring)
	report.Own1(r, "vocabulary", idf)
}
