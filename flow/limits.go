package flow

import "github.com/larder-data/larder/internal/text/display"

// Limits bound the sizes that a file may claim when it is decoded, so that a
// small file cannot take all memory. 0 means the default of the codecs. Limits
// are not part of any key, because exceeding them is an error. The command line
// sets [codec.MaxPixels], [codec.MaxUnpacked] and [codec.MaxItem] from them;
// other programs must do so themselves.
//
// [codec.MaxPixels]:
// https://pkg.go.dev/github.com/larder-data/larder/codec#MaxPixels
// [codec.MaxItem]:
// https://pkg.go.dev/github.com/larder-data/larder/codec#MaxItem
// [codec.MaxUnpacked]:
// https://pkg.go.dev/github.com/larder-data/larder/codec#MaxUnpacked
type Limits struct {
	Pixels   int64 // of an image, over all pages
	Unpacked int64 // bytes of the arrays in a compressed file
	Item     int64 // bytes of an item, row or record in a file of many
}

func (p *parser) limits(f field) (l Limits) {
	for _, g := range p.fields(p.expand(f.value), "limits") {
		switch g.key.Value {
		case "pixels":
			l.Pixels = p.whole(g, 1, 1<<62)
		case "unpacked":
			n, err := display.ParseSize(g.value.Value)
			if err != nil {
				p.at(g.value, "unpacked: %q %v", g.value.Value, err)
			}
			l.Unpacked = n
		case "item":
			n, err := display.ParseSize(g.value.Value)
			if err != nil {
				p.at(g.value, "item: %q %v", g.value.Value, err)
			}
			l.Item = n
		default:
			p.unknown(g.key, "limits", []string{"pixels", "unpacked", "item"})
		}
	}
	return l
}
