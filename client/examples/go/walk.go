// Finds a way through a yard, has a crate put in it, hears of that, and finds the way round.
//
//	walk [SERVER]
package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"strings"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"

	pb "waystar.dev/proto/waystar/v1"
)

const yard = "go-yard"

// In a game one would give each call its own deadline; here all of them share one.
const timeout = 30 * time.Second

// refusal gives the reason and the field that the server sends with every refusal.
func refusal(err error) (reason, field string) {
	for _, detail := range status.Convert(err).Details() {
		if info, ok := detail.(*errdetails.ErrorInfo); ok {
			return info.Reason, info.Metadata["field"]
		}
	}
	return "", ""
}

func at(x, y int32) *pb.Location {
	return &pb.Location{Place: &pb.Location_Cell{Cell: &pb.Cell{X: x, Y: y}}}
}

func find(ctx context.Context, paths pb.PathServiceClient, goal *pb.Location) error {
	answer, err := paths.FindPath(ctx, &pb.FindPathRequest{
		Map: yard, Start: at(0, 1), Goals: []*pb.Location{goal}, PathForm: pb.PathForm_PATH_FORM_CORNERS,
	})
	if err != nil {
		return err
	}
	var points []string
	for _, point := range answer.Path.Points {
		points = append(points, fmt.Sprintf("%d,%d", point.X, point.Y))
	}
	revision := answer.Info.Version.Revision
	fmt.Printf("revision %d: cost %.4f by %s\n", revision, answer.Cost, strings.Join(points, " "))
	return nil
}

func walk(ctx context.Context, connection *grpc.ClientConn) error {
	maps := pb.NewMapServiceClient(connection)
	paths := pb.NewPathServiceClient(connection)
	rows := []string{"..........", "....##....", "....##....", ".........."}
	if _, err := maps.CreateMap(ctx, &pb.CreateMapRequest{Map: yard, Rows: rows}); err != nil {
		return err
	}
	defer maps.DeleteMap(ctx, &pb.DeleteMapRequest{Map: yard})

	watch, err := maps.WatchMap(ctx, &pb.WatchMapRequest{Map: yard})
	if err != nil {
		return err
	}
	// The first event says that from here on nothing is missed.
	if _, err := watch.Recv(); err != nil {
		return err
	}

	if err := find(ctx, paths, at(9, 1)); err != nil {
		return err
	}
	crate := &pb.Obstacle{
		Id:    "crate",
		Shape: &pb.Shape{Rectangles: []*pb.Rectangle{{X: 4, Y: 0, Width: 2, Height: 1}}},
	}
	add := &pb.Edit{Edit: &pb.Edit_AddObstacle{AddObstacle: crate}}
	if _, err := maps.UpdateMap(ctx, &pb.UpdateMapRequest{Map: yard, Edits: []*pb.Edit{add}}); err != nil {
		return err
	}
	event, err := watch.Recv()
	if err != nil {
		return err
	}
	change := event.GetCommit()
	fmt.Printf("revision %d: %d cells changed\n", change.Version.Revision, change.ChangedCells)
	if err := find(ctx, paths, at(9, 1)); err != nil {
		return err
	}

	if err := find(ctx, paths, at(10, 1)); err != nil {
		reason, field := refusal(err)
		fmt.Printf("refused: %s %s (%s): %s\n", status.Code(err), reason, field, status.Convert(err).Message())
	}
	return nil
}

func main() {
	server := "localhost:7450"
	if len(os.Args) > 1 {
		server = os.Args[1]
	}
	connection, err := grpc.NewClient(server, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		log.Fatal(err)
	}
	defer connection.Close()
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	if err := walk(ctx, connection); err != nil {
		log.Fatal(err)
	}
}
