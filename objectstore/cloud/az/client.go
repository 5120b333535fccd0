package az

import (
	"cmp"
	"errors"
	"net/http"
	"os"
	"strings"
	"sync"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azidentity"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob"
)

// clients caches clients by the settings of the environment.
type clients struct {
	mu   sync.Mutex
	made map[settings]*azblob.Client
}

// settings are those of the environment.
type settings struct{ connection, account, key, sas, endpoint, anonymous string }

func read() settings {
	return settings{
		connection: os.Getenv("AZURE_STORAGE_CONNECTION_STRING"), account: os.Getenv("AZURE_STORAGE_ACCOUNT"),
		key: os.Getenv("AZURE_STORAGE_KEY"), sas: os.Getenv("AZURE_STORAGE_SAS_TOKEN"),
		endpoint: os.Getenv("AZURE_STORAGE_SERVICE_ENDPOINT"), anonymous: os.Getenv("AZURE_STORAGE_ANON"),
	}
}

// get returns the client for the current settings of the environment.
func (c *clients) get() (*azblob.Client, error) {
	s := read()
	c.mu.Lock()
	defer c.mu.Unlock()
	if m := c.made[s]; m != nil {
		return m, nil
	}
	m, err := s.client()
	if err != nil {
		return nil, err
	}
	if c.made == nil {
		c.made = map[settings]*azblob.Client{}
	}
	c.made[s] = m
	return m, nil
}

// client makes a client. Its errors do not contain the settings.
func (s settings) client() (*azblob.Client, error) {
	o := &azblob.ClientOptions{ClientOptions: options()}
	if s.connection != "" {
		c, err := azblob.NewClientFromConnectionString(s.connection, o)
		if err != nil {
			return nil, errors.New("AZURE_STORAGE_CONNECTION_STRING is not as Azure writes it (DefaultEndpointsProtocol=https;AccountName=...;AccountKey=...)")
		}
		return c, nil
	}
	if s.account == "" && s.endpoint == "" {
		return nil, errors.New("no account is named; set AZURE_STORAGE_CONNECTION_STRING, or AZURE_STORAGE_ACCOUNT")
	}
	c, err := s.asked(cmp.Or(s.endpoint, "https://"+s.account+".blob.core.windows.net"), o)
	if err != nil {
		return nil, errors.New("AZURE_STORAGE_ACCOUNT, AZURE_STORAGE_KEY, AZURE_STORAGE_SAS_TOKEN or AZURE_STORAGE_SERVICE_ENDPOINT is not what Azure's client takes")
	}
	return c, nil
}

// asked makes a client of a service with the available credentials.
func (s settings) asked(service string, o *azblob.ClientOptions) (*azblob.Client, error) {
	switch {
	case s.key != "":
		key, err := azblob.NewSharedKeyCredential(s.account, s.key)
		if err != nil {
			return nil, err
		}
		return azblob.NewClientWithSharedKeyCredential(service, key, o)
	case s.sas != "":
		return azblob.NewClientWithNoCredential(service+"?"+strings.TrimPrefix(s.sas, "?"), o)
	case strings.EqualFold(s.anonymous, "true"):
		return azblob.NewClientWithNoCredential(service, o)
	}
	chain, err := azidentity.NewDefaultAzureCredential(nil)
	if err != nil {
		return nil, err
	}
	return azblob.NewClient(service, chain, o)
}

// options make the client try once, because the caller retries, and return stored bytes.
// Go's transport does not treat x-ms-range as a range, and would decompress the content.
func options() azcore.ClientOptions {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.DisableCompression = true
	t.MaxIdleConnsPerHost = 64
	return azcore.ClientOptions{
		Retry: policy.RetryOptions{MaxRetries: -1}, Transport: &http.Client{Transport: t},
		Telemetry: policy.TelemetryOptions{Disabled: true},
	}
}
