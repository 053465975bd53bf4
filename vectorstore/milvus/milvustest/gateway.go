package milvustest

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"net"
	"os"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/mem"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
)

// startGateway forwards calls to the Milvus of the tests, after TLS and the checks of
// credentials that a Milvus of this mode makes.
func startGateway(t testing.TB, mode int, certificates Certificates) (addr string) {
	t.Helper()
	upstream, err := grpc.NewClient(Addr(t), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := grpc.NewServer(
		grpc.Creds(serverCredentials(t, mode, certificates)),
		grpc.ForceServerCodecV2(unread{}),
		grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: time.Second, PermitWithoutStream: true}),
		grpc.UnknownServiceHandler(func(_ any, stream grpc.ServerStream) error {
			if err := authorize(stream.Context()); err != nil {
				return err
			}
			method, _ := grpc.MethodFromServerStream(stream)
			var request, answer message
			if err := stream.RecvMsg(&request); err != nil {
				return err
			}
			if err := upstream.Invoke(stream.Context(), method, &request, &answer, grpc.ForceCodecV2(unread{})); err != nil {
				return err
			}
			return stream.SendMsg(&answer)
		}),
	)
	served := make(chan struct{})
	go func() {
		defer close(served)
		_ = server.Serve(listener) // until Stop
	}()
	t.Cleanup(func() {
		server.Stop()
		<-served
		upstream.Close()
	})
	return listener.Addr().String()
}

func serverCredentials(t testing.TB, mode int, certificates Certificates) credentials.TransportCredentials {
	t.Helper()
	if mode == NoTLS {
		return insecure.NewCredentials()
	}
	own, err := tls.LoadX509KeyPair(certificates.ServerCert, certificates.ServerKey)
	if err != nil {
		t.Fatal(err)
	}
	config := &tls.Config{Certificates: []tls.Certificate{own}, MinVersion: tls.VersionTLS12}
	if mode == MutualTLS {
		authority, err := os.ReadFile(certificates.CA)
		if err != nil {
			t.Fatal(err)
		}
		config.ClientAuth, config.ClientCAs = tls.RequireAndVerifyClientCert, x509.NewCertPool()
		config.ClientCAs.AppendCertsFromPEM(authority)
	}
	return credentials.NewTLS(config)
}

// authorize answers as Milvus 2.3.5 does.
func authorize(ctx context.Context) error {
	given := metadata.ValueFromIncomingContext(ctx, "authorization")
	if len(given) == 0 {
		return status.Error(codes.Unauthenticated, "missing authorization in header")
	}
	secret, err := base64.StdEncoding.DecodeString(given[0])
	if err != nil || string(secret) != Root+":"+RootPassword {
		return status.Error(codes.Unauthenticated,
			"auth check failure, please check username and password are correct")
	}
	return nil
}

// message is a message that the gateway does not read.
type message struct{ data mem.BufferSlice }

// unread is a codec of messages.
type unread struct{}

func (unread) Marshal(m any) (mem.BufferSlice, error) { return m.(*message).data, nil }

func (unread) Unmarshal(data mem.BufferSlice, m any) error {
	data.Ref()
	m.(*message).data = data
	return nil
}

// Name is empty, since Milvus takes a call with a content type other than application/grpc for a call of its HTTP API.
func (unread) Name() string { return "" }
