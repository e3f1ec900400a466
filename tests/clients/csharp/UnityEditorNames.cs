// The names of Unity that the package's scripts for the editor use, to compile against.

using System.Collections.Generic;

namespace UnityEngine {
  public class Object {
    public string name { get; set; }
  }

  public class Component : Object {
    public T GetComponent<T>() => default(T);
  }

  public class GameObject : Object {
    public T[] GetComponentsInChildren<T>() => new T[0];
  }

  public struct Vector3 {
    public float x, y, z;

    public Vector3(float x, float y, float z) {
      this.x = x;
      this.y = y;
      this.z = z;
    }

    public static Vector3 operator -(Vector3 a, Vector3 b) => new Vector3(a.x - b.x, a.y - b.y, a.z - b.z);
    public static bool operator ==(Vector3 a, Vector3 b) => a.Equals(b);
    public static bool operator !=(Vector3 a, Vector3 b) => !a.Equals(b);
    public override bool Equals(object other) => base.Equals(other);
    public override int GetHashCode() => base.GetHashCode();
  }

  public struct Vector3Int {
    public Vector3Int(int x, int y, int z) {
      this.x = x;
      this.y = y;
      this.z = z;
    }

    public int x { get; set; }
    public int y { get; set; }
    public int z { get; set; }
  }

  public struct BoundsInt {
    public IEnumerable<Vector3Int> allPositionsWithin => new Vector3Int[0];
  }

  public static class Debug {
    public static void Log(object message) {}
    public static void LogWarning(object message) {}
    public static void LogError(object message) {}
  }

  public static class GUILayout {
    public static bool Button(string text) => false;
  }

  public static class JsonUtility {
    public static string ToJson(object value) => "";
  }
}

namespace UnityEngine.AI {
  public struct NavMeshTriangulation {
    public Vector3[] vertices;
    public int[] indices;
    public int[] areas;
  }

  public struct NavMeshBuildSettings {
    public float agentRadius { get; set; }
  }

  public static class NavMesh {
    public static NavMeshTriangulation CalculateTriangulation() => default(NavMeshTriangulation);
    public static float GetAreaCost(int area) => 1;
    public static int GetAreaFromName(string name) => 0;
    public static NavMeshBuildSettings GetSettingsByIndex(int index) => default(NavMeshBuildSettings);
  }
}

namespace UnityEngine.SceneManagement {
  public struct Scene {
    public string name { get; set; }
    public GameObject[] GetRootGameObjects() => new GameObject[0];
  }

  public static class SceneManager {
    public static Scene GetActiveScene() => default(Scene);
  }
}

namespace UnityEngine.Tilemaps {
  public class Tile {
    public enum ColliderType { None, Sprite, Grid }
  }

  public class Tilemap : Component {
    public BoundsInt cellBounds => default(BoundsInt);
    public Vector3 CellToWorld(Vector3Int cell) => default(Vector3);
    public bool HasTile(Vector3Int cell) => false;
    public Tile.ColliderType GetColliderType(Vector3Int cell) => Tile.ColliderType.None;
  }

  public class TilemapCollider2D : Component {}
}

namespace UnityEditor {
  public sealed class MenuItem : System.Attribute {
    public MenuItem(string itemName) {}
  }

  public class EditorWindow : UnityEngine.Object {
    public static T GetWindow<T>(string title) where T : EditorWindow => null;
  }

  public static class GameObjectUtility {
    public static string[] GetNavMeshAreaNames() => new string[0];
  }

  public static class EditorUtility {
    public static string SaveFilePanel(string title, string directory, string name, string extension) => "";
  }

  public static class EditorGUILayout {
    public static string TextField(string label, string text) => text;
    public static string PasswordField(string label, string text) => text;
  }
}
