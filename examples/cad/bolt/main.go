// Bolt models a threaded bolt with its nut. Run it twice, then with another -length, to
// see which results are computed again.
package main

import (
	"flag"
	"fmt"
	"image/color"
	"math"
	"os"

	"github.com/larder-data/larder/examples/cad"
)

const (
	pitch = 1.25 // of an M8 thread
	flats = 1.625
)

var (
	steel = color.RGBA{0x8a, 0x94, 0xa6, 0xff}
	brass = color.RGBA{0xc9, 0xa2, 0x4b, 0xff}
)

// bolt returns a bolt that stands on its head.
func bolt(diameter, length float64) cad.Solid {
	r, height, width := diameter/2, 0.65*diameter, flats*diameter
	edge := 0.95 * width / 2
	cone := cad.Revolve(cad.Polygon(
		cad.Point{0, 0}, cad.Point{edge, 0}, cad.Point{edge + height, height * math.Tan(math.Pi/6)},
		cad.Point{edge + height, height}, cad.Point{0, height}))
	head := cad.Intersection(cad.Extrude(cad.RegularPolygon(6, width), height), cone)
	tip := cad.Revolve(cad.Polygon(
		cad.Point{0, 0}, cad.Point{r + 1, 0}, cad.Point{r + 1, length - pitch - 1}, cad.Point{r - pitch, length}, cad.Point{0, length}))
	shank := cad.Intersection(cad.Thread(diameter, pitch, length), tip)
	return cad.FilletUnion(0.4, head.Translate(cad.Vec{0, 0, -height}), shank)
}

func nut(diameter float64) cad.Solid {
	height := 0.8 * diameter
	body := cad.Extrude(cad.RegularPolygon(6, flats*diameter), height)
	hole := cad.InternalThread(diameter, pitch, height+2*pitch)
	return cad.Difference(body, hole.Translate(cad.Vec{0, 0, -pitch}))
}

func main() {
	diameter := flag.Float64("diameter", 8, "of the thread, in `mm`")
	length := flag.Float64("length", 30, "of the shank, in `mm`")
	flag.Parse()
	if err := run(*diameter, *length); err != nil {
		fmt.Fprintln(os.Stderr, "bolt:", err)
		os.Exit(1)
	}
}

func run(diameter, length float64) error {
	b, n := bolt(diameter, length), nut(diameter)
	if err := cad.Export("bolt.stl", b); err != nil {
		return err
	}
	if err := cad.Export("nut.stl", n); err != nil {
		return err
	}
	turned := n.Translate(cad.Vec{0, 0, 12.5}).Rotate(cad.Vec{0, 0, 1}, 20)
	return cad.Show("bolt.png", cad.Part{Solid: b, Colour: steel}, cad.Part{Solid: turned, Colour: brass})
}
