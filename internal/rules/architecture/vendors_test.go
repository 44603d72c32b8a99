package architecture

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// vendorSDKs are the modules of language models' vendors, with the only package that imports each.
var vendorSDKs = map[string]string{
	"github.com/openai/openai-go":            "sdk/llm/openai",
	"github.com/anthropics/anthropic-sdk-go": "sdk/llm/anthropic",
}

// TestOnlyAdaptersImportVendorSDKs shows that changes in a vendor's SDK concern one package.
func TestOnlyAdaptersImportVendorSDKs(t *testing.T) {
	importers := map[string]map[string]bool{}
	for _, p := range load(t) {
		for path := range p.Imports {
			for sdk := range vendorSDKs {
				if within(path, sdk) {
					if importers[sdk] == nil {
						importers[sdk] = map[string]bool{}
					}
					importers[sdk][strings.TrimPrefix(p.PkgPath, module)] = true
				}
			}
		}
	}
	for sdk, adapter := range vendorSDKs {
		require.Equal(t, map[string]bool{adapter: true}, importers[sdk], sdk)
	}
}
