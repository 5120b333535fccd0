package mapper

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"image"
	"math/rand/v2"

	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/key"
)

// images is the common part of mappers that change images in place. Several images of a
// sample, such as an image and its mask, change alike.
type images struct {
	name   string // of the mapper
	items  []string
	format string
	params []key.Param
	random *dataset.Random
	// change receives the images in the order of items, none of them empty; random is
	// nil if the mapper is not random.
	change func(all []image.Image, random *rand.Rand) ([]image.Image, error)
}

// transform returns the mapper. By default it changes the item image, and encodes
// as PNG.
func (m images) transform() (dataset.Transform, error) {
	items, format := m.items, cmp.Or(m.format, "png")
	if items == nil {
		items = []string{"image"}
	}
	if len(items) == 0 {
		return nil, errors.New("items is empty; name at least one image")
	}
	if err := dataset.CheckExt(format); err != nil {
		return nil, fmt.Errorf("format: %w", err)
	}
	return dataset.NewTransform(dataset.TransformFunc{
		Name: m.name, Random: m.random, Formats: []string{format}, FuncArgs: []any{m.change},
		Params: append(m.params, key.Param{Name: "items", Value: items}, key.Param{Name: "format", Value: format}),
		In:     items, Out: items, PerItem: true,
		Func: changing(items, format, m.random != nil, m.change),
	})
}

// changing returns the function on each sample, which is the code identity of a mapper
// that changes images.
func changing(items []string, format string, random bool, change func([]image.Image, *rand.Rand) ([]image.Image, error)) func(context.Context, dataset.Sample) (dataset.Sample, error) {
	return func(ctx context.Context, s dataset.Sample) (dataset.Sample, error) {
		all := make([]image.Image, len(items))
		for i, k := range items {
			var err error
			if all[i], err = imageItem(ctx, s, k); err != nil {
				return dataset.Sample{}, err
			}
			if all[i].Bounds().Empty() {
				return dataset.Sample{}, fmt.Errorf("item %s is an image without pixels", k)
			}
		}
		var source *rand.Rand
		if random {
			source = dataset.Rand(ctx)
		}
		out, err := change(all, source)
		if err != nil {
			return dataset.Sample{}, err
		}
		var made dataset.Sample
		for i, k := range items {
			made = made.WithItem(k, dataset.NewItem(format, out[i]))
		}
		return made, nil
	}
}

func each(change func(image.Image) image.Image) func([]image.Image, *rand.Rand) ([]image.Image, error) {
	return func(all []image.Image, _ *rand.Rand) ([]image.Image, error) {
		out := make([]image.Image, len(all))
		for i, img := range all {
			out[i] = change(img)
		}
		return out, nil
	}
}

// Bounds of the size of created images. Larger ones are a mistake and would take all
// memory.
const (
	maxSide   = 1 << 16
	maxPixels = 1 << 28
)

// checkSize returns an error if an image would be too large.
func checkSize(width, height int) error {
	if width > maxSide || height > maxSide || width > maxPixels/max(height, 1) {
		return fmt.Errorf("the result would have %d x %d pixels; at most %d for each side and %d in total are supported", width, height, maxSide, maxPixels)
	}
	return nil
}

// oneSize returns an error unless all images have the same size.
func oneSize(all []image.Image) error {
	size := all[0].Bounds().Size()
	for i, img := range all {
		if s := img.Bounds().Size(); s != size {
			return fmt.Errorf("image 0 has %d x %d pixels but image %d has %d x %d; crop images of equal sizes", size.X, size.Y, i, s.X, s.Y)
		}
	}
	return nil
}

func registerImages[P interface {
	Transform() (dataset.Transform, error)
}](name, doc string) {
	component.RegisterMapper(name, doc, func(_ *component.Env, p P) (dataset.Mapper, error) { return p.Transform() }).Images = true
}
