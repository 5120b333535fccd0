package gs

import (
	"context"
	"fmt"
	"os"

	"cloud.google.com/go/auth/credentials"
	"cloud.google.com/go/storage"
	"google.golang.org/api/option"
)

// client returns the client of the service that the environment names; a client for reading
// has read-only access. It lives as long as the program.
func (d *driver) client(write bool) (*storage.Client, error) {
	scope := storage.ScopeReadOnly
	if write {
		scope = storage.ScopeReadWrite
	}
	service := os.Getenv("STORAGE_EMULATOR_HOST")
	d.mu.Lock()
	defer d.mu.Unlock()
	if c := d.made[asked{service, write}]; c != nil {
		return c, nil
	}
	options := []option.ClientOption{option.WithScopes(scope), storage.WithDisabledClientMetrics()}
	if _, err := credentials.DetectDefault(&credentials.DetectOptions{Scopes: []string{scope}}); err != nil && service == "" {
		if os.Getenv("GOOGLE_APPLICATION_CREDENTIALS") != "" {
			return nil, fmt.Errorf("GOOGLE_APPLICATION_CREDENTIALS names no file of credentials that can be used")
		}
		options = append(options, option.WithoutAuthentication()) // for public data
	}
	c, err := storage.NewClient(context.Background(), options...)
	if err != nil {
		return nil, fmt.Errorf("the credentials cannot be used; see %s", access)
	}
	if d.made == nil {
		d.made = map[asked]*storage.Client{}
	}
	d.made[asked{service, write}] = c
	return c, nil
}
