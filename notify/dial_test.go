package notify

import (
	"net/netip"
	"strings"
	"testing"
)

func TestIsPublic_RecognisesSpecialAddresses(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]bool{
		"8.8.8.8": true, "93.184.216.34": true, "172.15.0.1": true, "172.32.0.1": true, "100.63.0.1": true,
		"100.128.0.1":     true,
		"2606:4700::1111": true, "::ffff:8.8.8.8": true,
		"127.0.0.1": false, "127.255.255.254": false, "0.0.0.0": false, "0.1.2.3": false, "10.0.0.1": false,
		"172.16.0.1":     false,
		"172.31.255.255": false, "192.168.1.1": false, "169.254.169.254": false, "100.64.0.1": false, "198.18.0.1": false,
		"168.63.129.16": false, "168.63.129.17": true,
		"192.0.2.1": false,
		"224.0.0.1": false, "240.0.0.1": false, "255.255.255.255": false,
		"::1": false, "::": false, "fe80::1": false, "fe80::1%eth0": false, "fc00::1": false, "fd12::1": false,
		"fec0::1": false, "ff02::1": false,
		"::ffff:127.0.0.1": false, "::ffff:10.0.0.1": false, "::127.0.0.1": false, "64:ff9b::7f00:1": false,
		"2002:7f00:1::": false, "2001:db8::1": false,
	} {
		if got := isPublic(netip.MustParseAddr(address)); got != want {
			t.Errorf("%s: public %v, want %v", address, got, want)
		}
	}
}

func TestCheckURL_RefusesUnsafeURLs(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"https://example.com": "", "https://example.com:8080/a?b=c": "", "http://example.com": "is not encrypted",
		"https://8.8.8.8/":             "",
		"https://[2606:4700::1111]:1/": "", "HTTPS://EXAMPLE.COM": "",
		"": "is no http", "ftp://example.com": "is no http", "example.com": "is no http", "https://": "is no http",
		"https:///path": "is no http", "http://a b": "is no http", "http://:80": "is no http",
		"https://user:pass@example.com": "holds a user", "https://example.com/#a": "has a fragment",
		"http://127.0.0.1/": "loopback or private", "http://localhost:1": "loopback or private",
		"http://LOCALHOST.": "loopback or private", "http://a.localhost": "loopback or private",
		"http://[::1]/": "loopback or private", "http://[::ffff:169.254.169.254]": "loopback or private",
		"http://10.1.2.3": "loopback or private",
		"http://example.com/" + strings.Repeat("a", 2048): "at most 2048",
	} {
		if got := (Settings{}).CheckURL(text); got != want && (want == "" || !strings.Contains(got, want)) {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	if got := (Settings{AllowPrivate: true}).CheckURL("http://127.0.0.1:80"); got != "" {
		t.Error(got)
	}
}

// The example of the reference libraries of Standard Webhooks.
func TestSignStandard_MatchesTheReference(t *testing.T) {
	t.Parallel()
	got := SignStandard("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "msg_p5jXN8AQM9LWM0D4loKWxJek", "1614265330",
		[]byte(`{"test": 2432232314}`))
	if want := "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	plain := SignStandard("fedcba9876543210", "id", "1", nil)
	if other := SignStandard("fedcba9876543211", "id", "1", nil); other == plain {
		t.Errorf("two plain secrets give %s", plain)
	}
}
