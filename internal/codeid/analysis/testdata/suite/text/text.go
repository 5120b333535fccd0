package text

import (
	"context"
	"embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"sync"

	"github.com/VividCortex/ewma"
	"github.com/larder-data/larder/lazy"

	"example.com/units"
)

// The functions of this package, as lazy ones.
var (
	LazyEncode  = lazy.Func1("encode", Encode)
	LazyWords   = lazy.Func1("words", Words)
	LazyPhrases = lazy.Func1("phrases", Phrases)
	LazySystem  = lazy.Func1("system", System)
	LazyLookup  = lazy.Func1("lookup", Lookup)
	LazyBinary  = lazy.Func1("binary", Binary)
	LazySmooth  = lazy.Func1("smooth", Smooth)
	LazyConvert = lazy.Func1("convert", Convert)
	LazyEach    = lazy.Func1("each", Each)
)

// A page is written as JSON.
type page struct {
	Title  string `json:"title"`
	Number number `json:"number"`
	Note   string `json:"note,omitempty"`
	Size   size
}

type number int

// MarshalJSON is called by the package json.
func (n number) MarshalJSON() ([]byte, error) { return json.Marshal("no. " + digits(int(n))) }

type size int

func digits(n int) string { return strings.Repeat("i", n) }

// Encode writes JSON.
func Encode(_ context.Context, title string) (string, error) {
	b, err := json.Marshal(page{Title: title, Number: 3, Size: 9})
	return string(b), err
}

//go:embed words.txt
var words string

// Words reads an embedded file.
func Words(_ context.Context, n int) (string, error) {
	return strings.Fields(words)[n], nil
}

//go:embed phrases
var phrases embed.FS

// Phrases reads an embedded folder.
func Phrases(_ context.Context, sep string) (string, error) {
	entries, err := phrases.ReadDir("phrases")
	if err != nil {
		return "", err
	}
	var all []string
	for _, e := range entries {
		b, err := phrases.ReadFile("phrases/" + e.Name())
		if err != nil {
			return "", err
		}
		all = append(all, strings.TrimSpace(string(b)))
	}
	return strings.Join(all, sep), nil
}

// System depends on the tags of the build.
func System(_ context.Context, n int) (string, error) {
	return strings.Repeat(flavour(), n), nil
}

var (
	once  sync.Once
	index map[string]int
)

func fill() {
	index = map[string]int{"one": 1, "two": 2}
	extend(index)
}

func extend(m map[string]int) { m["three"] = 3 }

// Lookup fills a table when it first needs it.
func Lookup(_ context.Context, word string) (int, error) {
	once.Do(fill)
	return index[word], nil
}

// Binary uses a variable of the standard library.
func Binary(_ context.Context, s string) (string, error) {
	return base64.StdEncoding.EncodeToString([]byte(s)), nil
}

// Smooth uses another's module.
func Smooth(_ context.Context, text string) (string, error) {
	average := ewma.NewMovingAverage()
	for i := range text {
		average.Add(float64(text[i]))
	}
	return fmt.Sprint(average.Value()), nil
}

// Convert uses a module that is replaced by a folder.
func Convert(_ context.Context, miles float64) (string, error) {
	return units.Kilometres(miles), nil
}

// Each depends on the version of the language that the module has.
func Each(_ context.Context, n int) (int, error) { return units.Each(n), nil }
