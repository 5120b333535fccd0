package images_test

import (
	"context"
	"fmt"
	"image"

	"github.com/larder-data/larder/flow"
	"github.com/larder-data/larder/format/images"
)

// The images of a directory are samples. Here they are those of the letters.
func Example() {
	b := flow.NewBuilder("photos", "../../examples/letters")
	b.Add("photos", images.Source{Path: "data", Recursive: true})
	f, err := b.Flow()
	if err != nil {
		panic(err)
	}
	photos, err := f.Open(context.Background(), "photos", flow.RunOptions{})
	if err != nil {
		panic(err)
	}
	s, err := photos.Parts[0].At(context.Background(), 3)
	if err != nil {
		panic(err)
	}
	v, err := s.Value(context.Background(), "image")
	if err != nil {
		panic(err)
	}
	fmt.Println(photos.Parts[0].Len(), s.Keys(), v.(image.Image).Bounds())
	// Output: 26 [image] (0,0)-(32,32)
}
