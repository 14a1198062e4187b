package main

import (
	"context"
	"errors"
	"fmt"
	"os"
)

// memory measures the most memory that client and reference server have
// resident while 1 GiB is uploaded, stored and verified, by each method. The
// client's garbage collector is told to stay below 48 MiB.
func memory(ctx context.Context, b *bench) error {
	if resident(os.Getpid()) == 0 {
		fmt.Fprintln(b.out, "Resident memory is left out: /proc does not tell it here")
		return nil
	}
	for _, method := range []string{"raw", "base64", "multipart", "form", "bulk"} {
		if err := memoryOf(ctx, b, method); err != nil {
			return fmt.Errorf("%s: %w", method, err)
		}
	}
	return nil
}

func memoryOf(ctx context.Context, b *bench, method string) (err error) {
	server, err := b.serve(ctx)
	if err != nil {
		return err
	}
	defer func() {
		_, stopErr := server.stop()
		err = errors.Join(err, stopErr)
	}()
	upload := b.uploadCommand(ctx, server.url, method, gibibyte, "--verify", "digest")
	upload.Env = append(upload.Env, "GOMEMLIMIT=48MiB")
	row, client, err := finishUpload(upload)
	if err != nil {
		return err
	}
	if row.Verified != row.Samples {
		return fmt.Errorf("%d of %d uploads verified", row.Verified, row.Samples)
	}
	most, err := server.stop()
	if err != nil {
		return err
	}
	b.print(figure{name: method + " 1 GiB, client memory", unit: mebibytes,
		ours: []float64{float64(client.memory)}, limit: 64 << 20})
	b.print(figure{name: method + " 1 GiB, server memory", unit: mebibytes,
		ours: []float64{float64(most)}, limit: 128 << 20})
	return nil
}
