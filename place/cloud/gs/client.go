package gs

import (
	"context"
	"fmt"
	"os"

	"cloud.google.com/go/auth/credentials"
	"cloud.google.com/go/storage"
	"google.golang.org/api/option"
)

// client returns the client of the service that the environment names. It lives as long as the
// program.
func (d *driver) client() (*storage.Client, error) {
	service := os.Getenv("STORAGE_EMULATOR_HOST")
	d.mu.Lock()
	defer d.mu.Unlock()
	if c := d.made[service]; c != nil {
		return c, nil
	}
	options := []option.ClientOption{option.WithScopes(storage.ScopeReadOnly), storage.WithDisabledClientMetrics()}
	if _, err := credentials.DetectDefault(&credentials.DetectOptions{Scopes: []string{storage.ScopeReadOnly}}); err != nil && service == "" {
		if os.Getenv("GOOGLE_APPLICATION_CREDENTIALS") != "" {
			return nil, fmt.Errorf("GOOGLE_APPLICATION_CREDENTIALS names no file of credentials that can be used")
		}
		options = append(options, option.WithoutAuthentication()) // as for public data
	}
	c, err := storage.NewClient(context.Background(), options...)
	if err != nil {
		return nil, fmt.Errorf("the credentials cannot be used; see %s", access)
	}
	if d.made == nil {
		d.made = map[string]*storage.Client{}
	}
	d.made[service] = c
	return c, nil
}
