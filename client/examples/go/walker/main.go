// Lets an agent walk across the map "tiles" of a server, on another path when a change blocks its own.
//
//	walker [SERVER]
package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"time"

	"google.golang.org/protobuf/proto"

	waystar "waystar.dev/client"
)

func main() {
	server := append(os.Args[1:], "localhost:7450")[0]
	client, err := waystar.New(server, waystar.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	agents := client.FollowAgents(context.Background(), nil)
	here, goal := waystar.Cell(0, 9), waystar.Cell(15, 9)
	agents.Put(7, client.Map("tiles").Query(here, goal))
	for !proto.Equal(here, goal) {
		if err := agents.Flush(); err != nil {
			log.Fatal(err)
		}
		time.Sleep(200 * time.Millisecond)
		state, _ := agents.Find(7)
		if ahead := state.Ahead(here); len(ahead) > 0 {
			here = waystar.Cell(ahead[0].X, ahead[0].Y)
			agents.MoveTo(7, here)
			fmt.Println(ahead[0].X, ahead[0].Y)
		}
	}
}
