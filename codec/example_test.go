package codec_test

import (
	"fmt"

	"github.com/larder-data/larder/codec"
)

// The extension of a file selects the codec that reads and writes it.
func ExampleByExtension() {
	c, ok := codec.ByExtension("yaml")
	if !ok {
		panic("there is no codec for yaml")
	}
	v, err := c.Decode([]byte("color: red\nsize: 7\n"))
	fmt.Println(c.Name, v, err)
	// Output: yaml map[color:red size:7] <nil>
}

// Results of functions are stored by a codec of their type. A type that cannot be restored exactly is refused
// beforehand.
func ExampleFor() {
	type point struct{ X, Y float64 }
	c, err := codec.For[[]point]()
	if err != nil {
		panic(err)
	}
	b, err := c.Encode(nil, []point{{1, 2}, {3, 4}})
	if err != nil {
		panic(err)
	}
	back, err := c.Decode(b)
	fmt.Println(back, err)
	_, err = codec.For[func()]()
	fmt.Println(err)
	// Output:
	// [{1 2} {3 4}] <nil>
	// codec: func(): a func of type func() cannot be cached; leave it out of the result, or cache its inputs instead
}
