// The names of Unity that the package uses, to compile against.

namespace UnityEngine {
  public class MonoBehaviour {
    public Transform transform;
  }

  public class Transform {
    public Vector3 position;
  }

  public struct Vector3 {
    public Vector3(float x, float y, float z) {}
    public static Vector3 MoveTowards(Vector3 from, Vector3 to, float distance) => to;
    public static bool operator ==(Vector3 a, Vector3 b) => a.Equals(b);
    public static bool operator !=(Vector3 a, Vector3 b) => !a.Equals(b);
    public override bool Equals(object other) => base.Equals(other);
    public override int GetHashCode() => base.GetHashCode();
  }

  public static class Random {
    public static int Range(int low, int high) => low;
  }

  public static class Time {
    public static float deltaTime => 0;
  }
}

namespace UnityEngine.Networking {
  public class CertificateHandler {}

  public class UploadHandler {}

  public class UploadHandlerRaw : UploadHandler {
    public UploadHandlerRaw(byte[] data) {}
  }

  public class DownloadHandler {}

  public class DownloadHandlerScript : DownloadHandler {
    protected virtual bool ReceiveData(byte[] data, int dataLength) => true;
  }

  public class UnityWebRequest {
    public const string kHttpVerbPOST = "POST";
    public UnityWebRequest(string url, string method, DownloadHandler download, UploadHandler upload) {}
    public CertificateHandler certificateHandler { get; set; }
    public DownloadHandler downloadHandler { get; set; }
    public int redirectLimit { get; set; }
    public bool isDone => true;
    public long responseCode => 0;
    public string error => null;
    public object SendWebRequest() => null;
    public void SetRequestHeader(string name, string value) {}
    public string GetResponseHeader(string name) => null;
    public void Dispose() {}
  }
}
