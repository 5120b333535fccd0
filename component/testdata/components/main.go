// Components prints what components are known by, each on a line: a name, the kind
// of the identity and the identity, or the error.
package main

import (
	"bytes"
	"context"
	"embed"
	"fmt"
	"image"
	"image/jpeg"
	"image/png"
	"os"

	"github.com/larder-data/larder"
	"github.com/larder-data/larder/codeid"
	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/component/testdata/components/own"
	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/internal/app/records"
	"github.com/larder-data/larder/key"
	"github.com/larder-data/larder/mapper"
	_ "github.com/larder-data/larder/mapper/schema"
	"github.com/larder-data/larder/op"
	"github.com/larder-data/larder/pool"
)

//go:embed *.go
var files embed.FS

var _ = codeid.Register(files)

var ctx = context.Background()

func main() {
	l, err := larder.Open(larder.Options{Dir: os.Args[1]})
	if err != nil {
		panic(err)
	}
	defer l.Close()
	schema := os.Args[1] + ".schema"
	if err := os.WriteFile(schema, []byte("version: 1\nitems: {}\n"), 0o600); err != nil {
		panic(err)
	}
	env := &component.Env{Dir: os.Args[1], Larder: l, Pool: pool.New(1), Stats: &dataset.NodeStats{}}
	for _, c := range component.All(component.Map) {
		if c.Name == "python" { // which needs a Python to be made
			continue
		}
		m, err := c.Mapper(env, params(c.Name, schema))
		if transform, ok := m.(dataset.Transform); ok || err != nil {
			say(c.Name, l, transform, err)
		}
	}
	for name, make := range own.Transforms {
		m, err := make(3)
		say("own "+name, l, m, err)
	}
	for ext, b := range map[string][]byte{"jpeg": encoded(func(b *bytes.Buffer, m image.Image) error { return jpeg.Encode(b, m, nil) }), "png": encoded(func(b *bytes.Buffer, m image.Image) error { return png.Encode(b, m) })} {
		m, err := mapper.ImageStats{}.Transform()
		sayResult("stats of "+ext, l, m, err, "image", dataset.NewBytes(ext, b), "stats")
	}
	m, err := own.Transforms["plain"](3)
	sayResult("own plain of twice", l, m, err, "n", dataset.NewBytes("twice", []byte("4")), "made")
	m, err = own.Transforms["area"](3)
	sayResult("own area of square", l, m, err, "n", dataset.NewBytes("square", []byte("four")), "made")
	m, err = own.Transforms["constant"](3)
	sayResult("own constant of twice", l, m, err, "n", dataset.NewBytes("twice", []byte("4")), "made")
	filter(env)
}

// params are parameters by which a mapper can be made.
func params(name, schema string) any {
	c, err := component.Find(component.Map, name)
	if err != nil {
		panic(err)
	}
	switch name {
	case "image-resize":
		return mapper.ImageResize{Width: 2}
	case "center-crop":
		return mapper.CenterCrop{Width: 1, Height: 1}
	case "random-resized-crop":
		return mapper.RandomResizedCrop{Width: 1, Height: 1}
	case "random-crop":
		return mapper.RandomCrop{Width: 1, Height: 1}
	case "compute":
		return mapper.Compute{Set: map[string]string{"a": "b + 1"}}
	case "set-value":
		return mapper.SetValue{Key: "a", Value: "b"}
	case "exec":
		return mapper.Exec{Command: []string{"true"}, Items: []string{"a"}, Into: []string{"b"}}
	case "convert":
		return mapper.Convert{To: map[string]string{"a": "json"}}
	}
	p := newOf(c)
	if field := p.FieldByName("Schema"); field.IsValid() {
		field.SetString(schema)
	}
	return p.Interface()
}

func say(name string, l *larder.Larder, m dataset.Transform, err error) {
	var o *key.Op
	if err == nil {
		o, err = m.Op(ctx, l)
	}
	if err != nil {
		fmt.Printf("%s\terror\t%v\n", name, err)
		return
	}
	fmt.Printf("%s\t%s\t%s\n", name, o.Code().Kind, o.Key())
}

// sayResult says what a result is known by that a transform makes of an item.
func sayResult(name string, l *larder.Larder, m dataset.Transform, err error, item string, of *dataset.Item, made string) {
	if err == nil {
		var s dataset.Sample
		in := dataset.List(dataset.NewSample(dataset.Field{Key: item, Item: of}))
		if s, err = dataset.Map(in, m, dataset.MapOptions{Larder: l}).At(ctx, 0); err == nil {
			var it *dataset.Item
			if it, err = s.Item(made); err == nil {
				var ref key.Ref
				if ref, err = it.Ref(ctx); err == nil {
					fmt.Printf("%s\tresult\t%s\n", name, ref)
					return
				}
			}
		}
	}
	fmt.Printf("%s\terror\t%v\n", name, err)
}

// filter says what a kept pass over a dataset is known by.
func filter(env *component.Env) {
	in := dataset.List(dataset.NewSample(dataset.Field{Key: "n", Item: dataset.NewItem("json", int64(3))}))
	if _, err := (op.Filter{Where: "n > 2"}).Apply(ctx, env, in); err != nil {
		fmt.Printf("filter\terror\t%v\n", err)
		return
	}
	reader := records.ProvenanceReader{Store: env.Larder.Store()}
	for r, err := range env.Larder.Store().Records(ctx) {
		if err != nil {
			panic(err)
		}
		parts, err := reader.Parts(ctx, r.Key)
		if err != nil || len(parts) == 0 || parts[0].Value != "filter" {
			continue
		}
		for _, p := range parts {
			if p.Kind == key.CodePart {
				var kind, id string
				fmt.Sscan(p.Value, &kind, &id)
				fmt.Printf("filter\t%s\t%s\n", kind, id)
			}
		}
	}
}

func encoded(encode func(*bytes.Buffer, image.Image) error) []byte {
	var b bytes.Buffer
	if err := encode(&b, image.NewGray(image.Rect(0, 0, 2, 2))); err != nil {
		panic(err)
	}
	return b.Bytes()
}
