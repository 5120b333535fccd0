package array_test

import (
	"fmt"
	"image"
	"image/color"

	"github.com/larder-data/larder/array"
)

// Convert Go values to an array and back without copying them.
func Example() {
	a, err := array.From([]float32{1, 2, 3, 4, 5, 6}, 2, 3)
	if err != nil {
		panic(err)
	}
	fmt.Println(a, len(a.Data), "bytes")
	values, err := array.Values[float32](*a)
	fmt.Println(values, err)
	_, err = array.Values[float64](*a)
	fmt.Println(err)
	// Output:
	// float32 [2 3] 24 bytes
	// [1 2 3 4 5 6] <nil>
	// elements are float32, not float64
}

// An image is an array of height, width and channels.
func ExampleFromImage() {
	img := image.NewNRGBA(image.Rect(0, 0, 4, 2))
	img.Set(1, 0, color.NRGBA{R: 255, G: 128, A: 255})
	a, err := array.FromImage(img, 3)
	fmt.Println(a, err)
	fmt.Println("red, green, blue:", a.Data[3], a.Data[4], a.Data[5])
	// Output:
	// uint8 [2 4 3] <nil>
	// red, green, blue: 255 128 0
}
