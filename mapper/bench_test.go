package mapper_test

import (
	"image"
	"testing"

	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/mapper"
)

// BenchmarkImages changes an image of 512 x 512 pixels in memory, without encoding it.
func BenchmarkImages(b *testing.B) {
	img := image.NewNRGBA(image.Rect(0, 0, 512, 512))
	for i := range img.Pix {
		img.Pix[i] = uint8(i * 7)
	}
	for name, change := range map[string]func(){
		"flip":    func() { mapper.Flip(img, true, true) },
		"crop":    func() { mapper.Crop(img, 64, 64, 384, 384) },
		"nearest": func() { mapper.Nearest(img, 256, 256) },
		"jitter":  func() { mapper.Jitter(img, []int{0, 1, 2, 3}, [4]float64{1.1, 0.9, 1.2, 0.05}) },
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(img.Pix)))
			for b.Loop() {
				change()
			}
		})
	}
}

// BenchmarkCompose measures the cost of a sample whose composed steps are identified but
// not run.
func BenchmarkCompose(b *testing.B) {
	var steps []dataset.Mapper
	for _, m := range []interface {
		Transform() (dataset.Transform, error)
	}{mapper.ImageFlip{Horizontal: 0.5}, mapper.ImageResize{Width: 8}, mapper.ImageStats{}} {
		transform, err := m.Transform()
		if err != nil {
			b.Fatal(err)
		}
		steps = append(steps, transform)
	}
	all, err := dataset.Compose(steps...)
	if err != nil {
		b.Fatal(err)
	}
	ds := dataset.Map(dataset.List(picture(numbered(9, 9))), all, dataset.MapOptions{})
	b.ReportAllocs()
	for b.Loop() {
		if _, err := ds.At(b.Context(), 0); err != nil {
			b.Fatal(err)
		}
	}
}
