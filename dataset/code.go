package dataset

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/larder-data/larder"
	"github.com/larder-data/larder/codec"
	"github.com/larder-data/larder/internal/codeid/analysis"
	"github.com/larder-data/larder/internal/codeid/known"
	"github.com/larder-data/larder/key"
)

// identified holds the identities of all codecs by name, after the first request. They
// do not change while the program runs.
var identified struct {
	sync.Mutex
	ids map[string]codecID
}

type codecID struct {
	text string
	err  error
}

// codecIDs identifies what codecs do: two decoders of one format may return different
// values, and two encoders different files. A codec with a version is identified by the
// version.
func codecIDs(ctx context.Context, l *larder.Larder) (map[string]codecID, error) {
	identified.Lock()
	defer identified.Unlock()
	if identified.ids != nil {
		return identified.ids, nil
	}
	ids := map[string]codecID{}
	var bySource []codec.Codec
	var of []known.Component
	for _, c := range codec.All() {
		if c.Version > 0 {
			ids[c.Name] = codecID{text: c.ID()}
			continue
		}
		bySource = append(bySource, c)
		by := analysis.Declared{Values: true}
		if c.Library != "" { // the ID covers the library, and its functions are among those of the codec
			by.Maker, by.Given = true, len(c.Functions())
		}
		of = append(of, known.Component{Functions: c.Functions(), Declared: by})
	}
	found, err := known.CodesOf(ctx, l, of...)
	if err != nil {
		return nil, err
	}
	for i, c := range bySource {
		err := found[i].Err
		if err == nil && found[i].Closure != nil && len(found[i].Closure.Inputs) > 0 {
			err = fmt.Errorf("it reads package variable %s, whose value is not part of the key", found[i].Closure.Inputs[0].Name)
		}
		if err != nil {
			err = fmt.Errorf("codec %s: %w; or give it a Version", c.Name, err)
		}
		ids[c.Name] = codecID{strings.TrimSpace(c.ID() + " " + found[i].Code.ID + " " + found[i].Function), err}
	}
	identified.ids = ids
	return ids, nil
}

// kind identifies how the bytes of items with an extension are read and written.
func kind(ctx context.Context, l *larder.Larder, ext string) (string, error) {
	c, ok := codec.ByExtension(ext)
	if !ok {
		return ext, nil
	}
	ids, err := codecIDs(ctx, l)
	if err != nil {
		return "", err
	}
	id := ids[c.Name]
	if ext != c.Extensions[0] {
		id.text = ext + " " + id.text // commands see the extension
	}
	return id.text, id.err
}

// Codecs identifies the codecs of the program, the libraries that decode for them and
// their settings, but not their code.
func Codecs() string {
	ids := []string{fmt.Sprint(codec.StrictYAML.Load(), codec.MaxPixels.Load(), codec.MaxUnpacked.Load())}
	for _, c := range codec.All() {
		ids = append(ids, c.ID())
	}
	return key.DigestOf([]byte(strings.Join(ids, "\n"))).String()
}

// anyCodec represents the codec of an item that is not known yet: it changes with any
// codec.
func anyCodec(ctx context.Context, l *larder.Larder) (string, error) {
	ids, err := codecIDs(ctx, l)
	if err != nil {
		return "", err
	}
	list := make([]string, 0, len(ids))
	for _, id := range ids {
		if id.err != nil {
			return "", id.err
		}
		list = append(list, id.text)
	}
	slices.Sort(list)
	return key.DigestOf([]byte(strings.Join(list, "\n"))).String(), nil
}

// encoders identifies the encoders of extensions; nil means any.
func encoders(ctx context.Context, l *larder.Larder, exts []string) (key.Param, error) {
	p := key.Param{Name: "encoders"}
	if exts == nil {
		id, err := anyCodec(ctx, l)
		p.Value = id
		return p, err
	}
	ids := []string{}
	for _, ext := range exts {
		id, err := kind(ctx, l, ext)
		if err != nil {
			return p, err
		}
		if !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	p.Value = ids
	return p, nil
}
