// Draw draws the dataset of this example: 26 letters as small JPEG images with
// their metadata, and two lists that all letters share. Its output is committed.
// To generate it again, run:
//
//	go run ./examples/letters/draw examples/letters/data
package main

import (
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"log"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/image/draw"
	"golang.org/x/image/font"
	"golang.org/x/image/font/basicfont"
	"golang.org/x/image/math/fixed"
)

const side = 32 // pixels

// ink is a colour with its name.
type ink struct {
	name string
	rgb  color.RGBA
}

// inks are distributed unevenly, so that groups differ in size.
var inks = []ink{
	{"red", color.RGBA{200, 40, 40, 255}}, {"green", color.RGBA{40, 140, 60, 255}},
	{"blue", color.RGBA{50, 80, 200, 255}}, {"green", color.RGBA{40, 140, 60, 255}},
	{"orange", color.RGBA{230, 130, 20, 255}}, {"blue", color.RGBA{50, 80, 200, 255}},
	{"blue", color.RGBA{50, 80, 200, 255}},
}

func main() {
	if len(os.Args) != 2 {
		log.Fatal("usage: draw DIRECTORY")
	}
	if err := drawAll(os.Args[1]); err != nil {
		log.Fatal(err)
	}
}

func drawAll(dir string) error {
	if err := os.MkdirAll(filepath.Join(dir, "data"), 0o777); err != nil {
		return err
	}
	var vowels, consonants []string
	for i := range 26 {
		letter := string(rune('a' + i))
		if strings.Contains("aeiou", letter) {
			vowels = append(vowels, letter)
		} else {
			consonants = append(consonants, letter)
		}
		if err := drawOne(filepath.Join(dir, "data", fmt.Sprintf("%02d_", i)), letter, inks[i%len(inks)]); err != nil {
			return err
		}
	}
	if err := writeList(filepath.Join(dir, "vowels.yaml"), vowels); err != nil {
		return err
	}
	return writeList(filepath.Join(dir, "consonants.yaml"), consonants)
}

// drawOne writes <prefix>image.jpeg and <prefix>metadata.yaml.
func drawOne(prefix, letter string, ink ink) error {
	f, err := os.Create(prefix + "image.jpeg")
	if err != nil {
		return err
	}
	if err := jpeg.Encode(f, picture(letter, ink.rgb), &jpeg.Options{Quality: 85}); err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	// Unquoted: in YAML 1.2 the letters y and n are strings like all others.
	return os.WriteFile(prefix+"metadata.yaml", fmt.Appendf(nil, "letter: %s\ncolor: %s\n", letter, ink.name), 0o666)
}

// picture returns a letter in colour on near white, drawn small and scaled up.
func picture(letter string, c color.RGBA) image.Image {
	small := image.NewRGBA(image.Rect(0, 0, 16, 16))
	draw.Draw(small, small.Bounds(), image.NewUniform(color.RGBA{248, 246, 240, 255}), image.Point{}, draw.Src)
	d := font.Drawer{Dst: small, Src: image.NewUniform(c), Face: basicfont.Face7x13, Dot: fixed.P(5, 12)}
	d.DrawString(letter)
	big := image.NewRGBA(image.Rect(0, 0, side, side))
	draw.BiLinear.Scale(big, big.Bounds(), small, small.Bounds(), draw.Src, nil)
	return big
}

func writeList(path string, letters []string) error {
	return os.WriteFile(path, []byte("- "+strings.Join(letters, "\n- ")+"\n"), 0o666)
}
