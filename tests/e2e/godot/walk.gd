# Walks with walker.gd through the yard, and prints the path and where it ends up.
extends SceneTree


func _initialize():
	var walker = load("res://walker.gd").new()
	for argument in OS.get_cmdline_args():
		if argument.begins_with("--server="):
			walker.server = argument.trim_prefix("--server=")
	walker.position = Vector2(20, -10)
	walker.speed = 1000
	root.add_child(walker)
	walker.walk_to(Vector2(100, 0))
	yield(walker.request, "request_completed")
	print("path ", walker.path)
	while walker.path.size() > 0:
		yield(self, "idle_frame")
	print("at ", walker.position)
	quit()
