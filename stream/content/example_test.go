package content_test

import (
	"context"
	"fmt"
	"log"

	"github.com/larder-data/larder/stream"
	"github.com/larder-data/larder/stream/content"
)

// The selected column of the rows of two files.
func Example() {
	ctx := context.Background()
	files := stream.Of(
		content.Content{Name: "may.csv", Bytes: []byte("day,rain\n1,0.5\n2,0\n")}.File(),
		content.Content{Name: "june.csv", Bytes: []byte("rain,day\n3.5,1\n")}.File(),
	)
	rows := content.CSV(files, content.Rows{Header: true})
	for row, err := range rows.All(ctx) {
		if err != nil {
			log.Fatal(err)
		}
		rain, _ := row.Field("rain")
		fmt.Println(row.Name, rain)
	}
	// Output:
	// may.csv 0.5
	// may.csv 0
	// june.csv 3.5
}
